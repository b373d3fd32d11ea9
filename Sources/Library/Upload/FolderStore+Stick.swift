import Glibc
import TakeFiles
import Takes

/// A folder on a stick. The stick is home only after a person adopted it, or if it has a take that this kit sent.
extension FolderStore {
    public enum StickStanding: Hashable, Sendable {
        /// No stick with the folder is plugged in, or it cannot be read.
        case none
        case home(StickMark)
        /// This kit has not adopted the stick. The value has the marks of other kits that did.
        case other([StickMark])
    }

    /// Whether the folder is on a stick, whichever is plugged in.
    public var isOnStick: Bool { sticks != nil }

    /// The standing of the current stick, or nil if this folder is not on a stick.
    public func stickStanding() async -> StickStanding? {
        guard let sticks else { return nil }
        return (try? await disk.perform { try standing($0, sticks) }) ?? StickStanding.none
    }

    /// The mark of the current stick, or nil if this folder is not on a stick.
    /// - Throws: `StoreError`, also if the stick is not adopted.
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

    /// Adopts the current stick. When this returns, the stick has a mark that this kit knows.
    /// - Parameter known: a mark that this kit made on the stick before; nil to make a new one.
    /// - Returns: the mark, and whether the adoption is new.
    /// - Throws: `FileError`; `ENOENT` if no stick with the folder is plugged in.
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

    /// The sidecars on the current stick, adopted or not, latest days first. Unreadable folders are skipped. Only the
    /// first `mostNames` names are read, which is more than any kit's stick has.
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

    /// The SHA-256 of a file on the current stick in hexadecimal, adopted or not. Nil if no readable file of that
    /// length exists.
    public func sha256(of object: ObjectName, ifLength byteCount: Int64) async -> String? {
        let path = "\(path)/\(object.path)"
        let there = try? await disk.perform { try $0.takeFileAttributes(path).byteCount }
        return there == byteCount ? try? await hash(path) : nil
    }

    /// Throws if the current stick is not adopted.
    func checkStick(_ files: FileSystem) throws {
        guard let sticks, case .other = try standing(files, sticks) else { return }
        throw Self.unadopted(name)
    }

    private func standing(_ files: FileSystem, _ sticks: HomeSticks) throws(FileError) -> StickStanding {
        _ = try files.openFolder(path, followsLink: false)
        let marks = try StickMark.read(in: path, files)
        return marks.first(where: sticks.has).map { .home($0) } ?? .other(marks)
    }

    /// The error while the current stick is not adopted.
    package static func unadopted(_ name: String) -> StoreError {
        StoreError(
            .unadopted,
            "outbox: \(name): this kit does not know the stick that is in, and sends nothing to it: 'fieldfare stick adopt', a paired "
                + "phone, or stop and play held for 3 s adopt it")
    }
}
