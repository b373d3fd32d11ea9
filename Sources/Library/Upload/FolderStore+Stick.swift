import Glibc
import TakeFiles
import Takes

/// A folder on a stick, which is home only once that was said: by a person, or by a take there that this kit sent.
extension FolderStore {
    /// How the stick stands that is in.
    public enum StickStanding: Hashable, Sendable {
        /// None is in that has the folder, or it cannot be read.
        case none
        case home(StickMark)
        /// This kit did not adopt it; the marks of others that did.
        case other([StickMark])
    }

    /// Whether it is on whichever stick is in.
    public var isOnStick: Bool { sticks != nil }

    /// How the stick stands that is in; nil: this folder is on no stick.
    public func stickStanding() async -> StickStanding? {
        guard let sticks else { return nil }
        return (try? await disk.perform { try standing($0, sticks) }) ?? StickStanding.none
    }

    /// The mark of the stick that is in; nil: this folder is on no stick.
    /// - Throws: `StoreError`, also if it was not adopted.
    public func medium() async throws -> String? {
        guard let sticks else { return nil }
        do {
            return try await disk.perform { files in
                guard case .home(let mark) = try standing(files, sticks) else { throw Self.unadopted(name) }
                return mark.name
            }
        } catch let error as FileError {
            throw problem(error)
        }
    }

    /// Adopts the stick that is in. A mark is on it, and known to this kit, when this returns.
    /// - Parameter known: a mark on the stick that this kit made before; nil: another one is made.
    /// - Returns: the mark, and whether the stick was adopted before.
    /// - Throws: `FileError`; `ENOENT`, if none is in that has the folder.
    public func adoptStick(_ known: StickMark? = nil) async throws -> (mark: StickMark, isNew: Bool) {
        guard let sticks else { throw StoreError(.refused, "stick: takes are not sent to sticks: [outbox] store") }
        return try await disk.perform { files in
            let mark: StickMark
            switch try standing(files, sticks) {
            case .home(let mark): return (mark, false)
            case .other(let marks):
                if let known, marks.contains(known) {
                    mark = known
                } else {
                    mark = try StickMark.add(to: marks, in: path, files)
                }
            case .none: mark = try StickMark.add(to: [], in: path, files)
            }
            try sticks.add(mark)
            return (mark, true)
        }
    }

    /// The sidecars on the stick that is in, adopted or not: the latest days first. What cannot be read is left out, and what lies behind
    /// the first names, as many as no kit's stick has.
    public func sidecars() async -> [ObjectName] {
        let found = try? await disk.perform { files in
            var found: [ObjectName] = []
            var left = Self.mostNames
            for day in try files.entries(path, most: left).filter(TakeName.isDay).sorted(by: >) where left > 0 {
                let names = (try? files.dayEntries("\(path)/\(day)", most: left)) ?? []
                left -= names.count + 1
                found += names.compactMap { $0.hasSuffix(".json") ? ObjectName(path: "\(day)/\($0)") : nil }
                    .filter(\.isSidecar)
            }
            return found
        }
        return found ?? []
    }

    private static let mostNames = 50_000

    /// The SHA-256 of a file on the stick that is in, home or not, hexadecimal; nil: there is none of that length that can be read.
    public func sha256(of object: ObjectName, ifLength byteCount: Int64) async -> String? {
        let path = "\(path)/\(object.path)"
        let there = try? await disk.perform { try $0.takeFileAttributes(path).byteCount }
        return there == byteCount ? try? await hash(path) : nil
    }

    /// That nothing is done on a stick that was not adopted.
    func checkStick(_ files: FileSystem) throws {
        guard let sticks, case .other = try standing(files, sticks) else { return }
        throw Self.unadopted(name)
    }

    private func standing(_ files: FileSystem, _ sticks: HomeSticks) throws(FileError) -> StickStanding {
        _ = try files.openFolder(path, followsLink: false)
        let marks = try StickMark.read(in: path, files)
        return marks.first(where: sticks.has).map { .home($0) } ?? .other(marks)
    }

    /// The error while the stick that is in is not adopted.
    package static func unadopted(_ name: String) -> StoreError {
        StoreError(
            .unadopted,
            "outbox: \(name): this kit does not know the stick that is in, and sends nothing to it: 'fieldfare stick adopt', a paired "
                + "phone, or stop and play held for 3 s adopt it")
    }
}
