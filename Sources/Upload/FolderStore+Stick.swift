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
        /// This kit does not know it. nil: it has no mark yet.
        case other(StickMark?)
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

    /// Adopts the stick that is in. Its mark is on it, and known to this kit, when this returns.
    /// - Throws: `StoreError`.
    public func adoptStick() async throws -> StickMark {
        guard let sticks else { throw StoreError(.refused, "stick: takes are not sent to sticks: [outbox] store") }
        do {
            return try await disk.perform { files in
                let mark: StickMark
                switch try standing(files, sticks) {
                case .home(let known): return known
                // Another kit's.
                case .other(let there?): mark = there
                case .other(nil), .none: mark = try StickMark.write(in: path, files)
                }
                try sticks.add(mark)
                return mark
            }
        } catch let error as FileError {
            throw problem(error)
        }
    }

    /// The sidecars on the stick that is in, home or not: the latest days first, at most `limit`. What cannot be read is left out.
    public func sidecars(limit: Int) async -> [ObjectName] {
        let found = try? await disk.perform { files in
            var found: [ObjectName] = []
            for day in try files.entries(path).filter(TakeName.isDay).sorted(by: >) where found.count < limit {
                let names = (try? files.dayEntries("\(path)/\(day)")) ?? []
                found += names.sorted(by: >).compactMap { ObjectName(path: "\(day)/\($0)") }.filter(\.isSidecar)
            }
            return found
        }
        return Array((found ?? []).prefix(limit))
    }

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
        guard let mark = try StickMark.read(in: path, files) else { return .other(nil) }
        return sticks.has(mark) ? .home(mark) : .other(mark)
    }

    /// The error while the stick that is in is not adopted.
    package static func unadopted(_ name: String) -> StoreError {
        StoreError(
            .unadopted,
            "outbox: \(name): this kit does not know the stick that is in, and sends nothing to it: 'fieldfare stick adopt', a paired "
                + "phone, or stop and play held for 3 s adopt it")
    }
}
