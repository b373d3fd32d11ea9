import Files
import Glibc
import TakeFiles
import Takes

/// The folder of a store on the inserted stick. A stick is home only after a person adopted it, or if it has a take
/// that this kit sent.
public struct StickFolder: Sendable {
    public enum Standing: Hashable, Sendable {
        /// No stick with the folder is plugged in, or it cannot be read.
        case none
        case home(StickMark)
        /// This kit has not adopted the stick. The value has the marks of other kits that did.
        case other([StickMark])
    }

    /// The name of the store.
    public let name: String
    public let path: String
    /// The sticks that this kit has adopted.
    let sticks: HomeSticks
    let disk: DiskReader

    public func standing() async -> Standing {
        (try? await disk.perform { try standing($0) }) ?? Standing.none
    }

    /// The mark of the inserted stick.
    /// - Throws: `FileError`; `StoreError` if the stick is not adopted.
    func homeMark() async throws -> StickMark {
        try await disk.perform { files in
            guard case .home(let mark) = try standing(files) else { throw Self.unadopted(name) }
            return mark
        }
    }

    /// Adopts the current stick. When this returns, the stick has a mark that this kit knows.
    /// - Parameter known: a mark that this kit made on the stick before; nil to make a new one.
    /// - Returns: the mark, and whether the adoption is new.
    /// - Throws: `FileError`; `ENOENT` if no stick with the folder is plugged in.
    public func adopt(_ known: StickMark? = nil) async throws -> (mark: StickMark, isNew: Bool) {
        try await disk.perform { files in
            let mark: StickMark
            switch try standing(files) {
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
        return there == byteCount ? try? await UploadSource(path: path, reader: disk).sha256() : nil
    }

    /// Throws if the current stick is not adopted.
    func checkHome(_ files: FileSystem) throws {
        guard case .other = try standing(files) else { return }
        throw Self.unadopted(name)
    }

    private func standing(_ files: FileSystem) throws(FileError) -> Standing {
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
