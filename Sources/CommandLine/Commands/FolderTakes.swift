import Control
import Files
import Glibc
import TakeFiles
import Takes

/// The takes of a folder. Only queries that sidecars can answer are possible.
struct FolderTakes {
    private let session: Session
    private let kit: KitTakes

    init(_ session: Session, _ kit: KitTakes) {
        self.session = session
        self.kit = kit
    }

    /// Writes the takes that match a query.
    /// - Parameters:
    ///   - order: replaces the order of the query. If it is by number, no sidecar is read in advance.
    ///   - limit: the maximum number.
    func list(_ query: TakeQuery, by order: TakeQuery.Order, limit: Int?, isRestricted: Bool) throws(Failure) {
        let width = kit.takes.reduce(0) { max($0, $1.stem.utf8.count) }
        var list = TakesList(session, isRestricted: isRestricted, width: width)
        try list.begin(directory: kit.folder.path)
        var left = limit ?? .max
        for name in try sorted(by: order, query, &list) where left > 0 {
            guard let sidecar = try read(name, &list), query.accepts(sidecar) else { continue }
            var damage: String?
            if query.isDamaged == true {
                damage = try DamagedTakes(session).damage(of: sidecar, in: kit.folder.folder(of: name), for: "takes")
                guard damage != nil else { continue }
            }
            try write(name, sidecar, damage: damage, to: &list)
            left -= 1
        }
        try list.end(place: kit.folder.path)
    }

    /// The names in order. If the order needs sidecars, each one is read, and only names of takes that match the query
    /// are returned.
    private func sorted(
        by order: TakeQuery.Order, _ query: TakeQuery, _ list: inout TakesList
    ) throws(Failure) -> [TakeName] {
        guard order != .number else { return query.isDescending ? kit.takes.reversed() : kit.takes }
        var keys: [(key: Double, name: TakeName)] = []
        for name in kit.takes {
            guard let sidecar = try read(name, &list), query.accepts(sidecar) else { continue }
            keys.append((key(name, sidecar, order, query.isDescending), name))
        }
        keys.sort { query.isDescending ? ($1.key, $1.name) < ($0.key, $0.name) : ($0.key, $0.name) < ($1.key, $1.name) }
        return keys.map(\.name)
    }

    private func key(
        _ name: TakeName, _ sidecar: Sidecar, _ order: TakeQuery.Order, _ isDescending: Bool
    ) -> Double {
        switch order {
        case .number: Double(name.number)
        case .started: Double(sidecar.begun?.microseconds ?? 0)
        case .duration: sidecar.durationSeconds
        case .size: Double(kit.folder.byteCount(of: name, sidecar))
        // Takes whose levels are not known come last.
        case .loudness where sidecar.levels.isEmpty: isDescending ? -.infinity : .infinity
        case .loudness: sidecar.levels.compactMap(\.peakDBFS).max() ?? -1000
        }
    }

    /// Returns nil if the take was deleted meanwhile or cannot be read. The list records the latter.
    private func read(_ name: TakeName, _ list: inout TakesList) throws(Failure) -> Sidecar? {
        do {
            return try kit.folder.sidecar(of: name)
        } catch let error as FileError where error.code == ENOENT {
            return nil
        } catch {
            try list.add(name, unreadable: Failure(reading: error, "takes"))
            return nil
        }
    }

    private func write(
        _ name: TakeName, _ sidecar: Sidecar, damage: String?, to list: inout TakesList
    ) throws(Failure) {
        let isJSON = session.options.json
        var take = CatalogedTake(
            sidecar, notes: TakeNotes(take: sidecar.take), bytes: isJSON ? kit.folder.byteCount(of: name, sidecar) : 0,
            folder: kit.folder.folder(of: name), place: .here)
        if let damage { (take.sound, take.damaged) = (.damaged, damage) }
        guard isJSON else { return try list.add([take]) }
        guard case .object(var members)? = try? JSONValue(encoding: take) else {
            throw Failure(exitStatus: 70, "takes: \(name.stem) cannot be written")
        }
        // A folder does not contain these facts, so the keys are left out. Null would mean that the take lacks them.
        for key in ["memo", "tags", "starred", "upload"] { members[key] = nil }
        if damage == nil { for key in ["sound", "damaged"] { members[key] = nil } }
        try list.add(json: .object(members))
    }
}

extension TakeQuery {
    /// Whether a take fulfils the conditions that a sidecar can answer.
    fileprivate func accepts(_ sidecar: Sidecar) -> Bool {
        if let since, sidecar.begun.map({ $0 < since }) ?? true { return false }
        if let until, sidecar.begun.map({ $0 >= until }) ?? true { return false }
        if let leastSeconds, sidecar.durationSeconds < leastSeconds { return false }
        if let mostSeconds, sidecar.durationSeconds > mostSeconds { return false }
        if let kit, sidecar.kit != kit { return false }
        guard let marker else { return true }
        guard marker.contains(where: { !$0.isWhitespace }) else { return !sidecar.markers.isEmpty }
        return sidecar.markers.contains { $0.content.words.contains { $0.hasWords(beginningWith: marker) } }
    }
}

extension String {
    /// Whether each word of `words` is the beginning of a word here, ignoring case.
    fileprivate func hasWords(beginningWith words: String) -> Bool {
        func split(_ text: String) -> [Substring] {
            text.lowercased().split { !$0.isLetter && !$0.isNumber }.map { Substring($0) }
        }
        let here = split(self)
        let sought = split(words)
        return !sought.isEmpty && sought.allSatisfy { word in here.contains { $0.hasPrefix(word) } }
    }
}
