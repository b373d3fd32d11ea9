import SeededRandom

/// The possible contents of a disk after a power cut, from the operations before it. They are as bad as POSIX and FAT
/// permit:
///
/// - Folders are synced separately from files and from each other, and a change of a name is safe only after a sync of
///   its own folder.
/// - A file that was renamed and not synced since is empty under its new name, even if it was synced before: FAT keeps
///   the length and the place of a file with its name.
/// - `fdatasync` keeps the written data with the length that it needs. It keeps neither a truncation nor a rename.
///
/// One case is not modelled, because no order of calls prevents it: the kernel may write a folder on its own between a
/// rename and the sync that immediately follows it.
package struct PowerCut {
    typealias Event = PowerCutDisk.Event

    /// Which unsynced data is lost.
    package enum Loss: CaseIterable, Sendable {
        /// None of it is on the disk.
        case everything
        /// All of it is on the disk: the process was killed, but the machine continues to run.
        case nothing
        /// The files have their lengths, with zeros in new areas.
        case contents
        /// Any blocks of 4 KiB may be missing, and any number of the last name changes.
        case blocks
        /// The same for blocks. Any name changes may be missing, independently for each name, as on FAT after the
        /// repair that precedes its mount.
        case apart
    }

    let events: [Event]
    /// The contents of the disk before the events.
    let first: [String: [UInt8]]

    private struct Change {
        var index: Int
        var name: String
        /// The file that the name then refers to, or nil for none.
        var file: Int?
        /// The new name of the file, if this change removes its old one.
        var successor: String?
        /// Whether this is the second half of a rename.
        var isRename = false
    }

    /// The content of each file, by path.
    func files(losing loss: Loss, random: SeededRandom) -> [String: [UInt8]] {
        var random = random
        let contents = contents
        func content(_ file: Int, _ random: inout SeededRandom) -> [UInt8] {
            let (synced, now) = contents[file] ?? ([], [])
            return Self.content(synced, now, losing: loss, &random)
        }
        if loss == .apart { return filesApart(content, &random) }
        let (names, changed) = names(losing: loss, &random)
        var files: [String: [UInt8]] = [:]
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            let isEmpty = loss != .nothing && changed[name].map { !isSynced(file, after: $0) } ?? false
            files[name] = isEmpty ? [] : content(file, &random)
        }
        return files
    }

    private var firstNames: [String: Int] {
        Dictionary(uniqueKeysWithValues: first.keys.sorted().enumerated().map { ($1, $0) })
    }

    private var changes: [Change] {
        events.enumerated().flatMap { index, event -> [Change] in
            switch event {
            case .make(let path, let file): [Change(index: index, name: path, file: file)]
            case .remove(let path): [Change(index: index, name: path)]
            case .rename(let from, let to):
                [
                    Change(index: index, name: to, file: file(at: from, before: index), isRename: true),
                    Change(index: index, name: from, successor: to),
                ]
            case .makeFolder, .write, .cut, .syncData, .syncFile, .syncFolder: []
            }
        }
    }

    /// The file that a name refers to before an event, as running processes see it.
    private func file(at name: String, before index: Int) -> Int? {
        var name = name
        for event in events[..<index].reversed() {
            switch event {
            case .make(name, let file): return file
            case .rename(let from, name): name = from
            default: break
            }
        }
        return firstNames[name]
    }

    private func isSynced(_ file: Int, after index: Int) -> Bool {
        events[index...].contains { event in
            if case .syncFile(file) = event { true } else { false }
        }
    }

    /// Whether an event is the rename of a file that was not synced since.
    private func isUnsettledRename(_ index: Int) -> Bool {
        guard case .rename(let from, _) = events[index], let file = file(at: from, before: index) else { return false }
        return !isSynced(file, after: index)
    }

    /// Whether the folder of a name was synced after an event.
    private func isSure(_ name: String, _ index: Int) -> Bool {
        let folder = name.lastIndex(of: "/").map { String(name[..<$0]) } ?? ""
        return events[index...].contains { event in
            if case .syncFolder(folder) = event { true } else { false }
        }
    }
}

// MARK: - Names

extension PowerCut {
    /// The file of each name, and the index of the event that renamed it to that name.
    private func names(
        losing loss: Loss, _ random: inout SeededRandom
    ) -> (names: [String: Int], renamed: [String: Int]) {
        let changes = changes
        let end = loss == .blocks ? random.below(events.count + 1) : loss == .everything ? 0 : events.count
        var names = firstNames
        var renamed: [String: Int] = [:]
        for change in changes where change.index < end || isSure(change.name, change.index) {
            if loss != .nothing, !isSure(change.name, change.index), isUnsettledRename(change.index) { continue }
            names[change.name] = change.file
            renamed[change.name] = change.isRename ? change.index : nil
        }
        return (names, renamed)
    }

    /// Each name after any number of its changes, but at least the safe ones. Both names of a file that is being
    /// renamed may exist; then one of them is empty after the repair.
    private func filesApart(
        _ content: (Int, inout SeededRandom) -> [UInt8], _ random: inout SeededRandom
    ) -> [String: [UInt8]] {
        let byName = Dictionary(grouping: changes, by: \.name)
        var done: [String: Int] = [:]
        for (name, changes) in byName.sorted(by: { $0.key < $1.key }) {
            let sure = (changes.lastIndex { isSure(name, $0.index) } ?? -1) + 1
            done[name] = sure + random.below(changes.count - sure + 1)
        }
        // An old name is removed only after the new one exists with its file.
        var before: [String: Int] = [:]
        while done != before {
            before = done
            for (name, changes) in byName {
                let kept = changes.prefix(done[name] ?? 0).firstIndex { change in
                    guard let successor = change.successor, !isSure(name, change.index) else { return false }
                    let others = byName[successor] ?? []
                    let place = others.firstIndex { $0.index == change.index } ?? others.count
                    guard let file = file(at: name, before: change.index) else { return false }
                    return place >= done[successor] ?? 0 || !isSynced(file, after: change.index)
                }
                if let kept { done[name] = kept }
            }
        }
        var names = firstNames
        var empty: Set<String> = []
        for (name, changes) in byName {
            for change in changes.prefix(done[name] ?? 0) { names[name] = change.file }
        }
        for (name, changes) in byName.sorted(by: { $0.key < $1.key }) {
            for (number, change) in changes.enumerated() where change.isRename {
                guard let file = change.file, let old = oldName(of: change) else { continue }
                let isThere = number < done[name] ?? 0
                let isLast = number == (done[name] ?? 0) - 1
                let isSettled = isSynced(file, after: change.index)
                if isThere, isLast, !isSettled { empty.insert(name) }
                guard names[old] == file else { continue }
                if isThere, isLast, isSettled {
                    empty.insert(random.below(2) == 0 ? name : old)
                } else if !isThere, isSettled, number == 0, firstNames[name] == nil, random.below(2) == 0 {
                    // Only half of a new name reached the disk: the file contains the sound, under a name that does not
                    // belong to the recorder.
                    empty.insert(old)
                } else if !isThere, random.below(2) == 0 {
                    // The space of the replaced file is already free.
                    empty.insert(name)
                }
            }
        }
        var files: [String: [UInt8]] = [:]
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            files[name] = empty.contains(name) ? [] : content(file, &random)
        }
        return files
    }

    private func oldName(of change: Change) -> String? {
        if case .rename(let from, _) = events[change.index] { from } else { nil }
    }
}

// MARK: - Contents

extension PowerCut {
    /// The last synced content and the present content of each file.
    private var contents: [Int: (synced: [UInt8], now: [UInt8])] {
        var contents: [Int: (synced: [UInt8], now: [UInt8])] = [:]
        for (path, number) in firstNames { contents[number] = (first[path] ?? [], first[path] ?? []) }
        for event in events {
            switch event {
            case .write(let file, let offset, let bytes):
                var now = contents[file]?.now ?? []
                if now.count < offset + bytes.count { now += Self.zeros(offset + bytes.count - now.count) }
                now.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                contents[file, default: ([], [])].now = now
            case .cut(let file, let size):
                let now = contents[file]?.now ?? []
                contents[file, default: ([], [])].now = Array(now.prefix(size)) + Self.zeros(size - now.count)
            case .syncData(let file):
                guard let (synced, now) = contents[file] else { continue }
                contents[file]?.synced = now + synced.dropFirst(now.count)
            case .syncFile(let file):
                contents[file, default: ([], [])].synced = contents[file]?.now ?? []
            case .make, .makeFolder, .rename, .remove, .syncFolder: break
            }
        }
        return contents
    }

    private static func content(
        _ synced: [UInt8], _ now: [UInt8], losing loss: Loss, _ random: inout SeededRandom
    ) -> [UInt8] {
        switch loss {
        case .everything: return synced
        case .nothing: return now
        case .contents: return Array(synced.prefix(now.count)) + zeros(now.count - synced.count)
        case .blocks, .apart:
            var mixed = now
            for start in stride(from: 0, to: now.count, by: 4096) where random.below(2) == 0 {
                let end = min(start + 4096, now.count)
                let old = synced.dropFirst(start).prefix(end - start)
                mixed.replaceSubrange(start..<end, with: old + zeros(end - start - old.count))
            }
            return mixed
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: max(0, count)) }
}
