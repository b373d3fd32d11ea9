public import Files
import Glibc
public import Takes

/// The condition of the file with the name of a finished take's sidecar.
enum SidecarCondition {
    case whole(Sidecar)
    /// A later version wrote the sidecar, and this version cannot read it.
    case newer(version: String)
    /// It is not a sidecar of this take, for this reason.
    case damaged(String)

    /// Errors of a storage that cannot return stored data. They may be temporary.
    static let unreadable = [EIO, EUCLEAN, EBADMSG]
    /// A file counts as unreadable after this many failed reads.
    static let attempts = 3

    /// Reads the file with the sidecar's name.
    /// - Parameter storageAnswers: returns whether the storage works although the file cannot be read.
    /// - Throws: `failed` if the storage fails or does not answer. The condition of the file is then unknown.
    init(at site: TakeSite, _ storageAnswers: () -> Bool) throws(LeftoverProblem) {
        let path = site.path(.sidecar)
        var last = FileError("read", path, code: EIO)
        for _ in 1...Self.attempts {
            do throws(FileError) {
                self = try Self.read(path, at: site)
                return
            } catch {
                guard Self.unreadable.contains(error.code), storageAnswers() else { throw .failed(error) }
                last = error
            }
        }
        self = .damaged(last.description)
    }

    private static func read(_ path: String, at site: TakeSite) throws(FileError) -> SidecarCondition {
        var obstacle: FileError?
        do throws(FileError) {
            _ = try site.files.length(site.files.openToRead(path, followsLink: false))
        } catch {
            // A folder, a pipe or a symbolic link.
            guard [EISDIR, ELOOP, ESPIPE, ENXIO].contains(error.code) else { throw error }
            guard error.code == ELOOP else { return .damaged(error.description) }
            obstacle = error
        }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try site.files.contents(path, limit: LeftoverTake.mostSidecarBytes)
        } catch {
            // The target of a link is not ours, and may be missing.
            guard let obstacle else { throw error }
            return .damaged(obstacle.description)
        }
        if let sidecar = credible(bytes, path: path, for: site.name) {
            guard sidecar.parts.isEmpty, try hasSound(beside: sidecar, at: site) else { return .whole(sidecar) }
            return .damaged("\(path): it lists no sound, and there is some beside it")
        }
        if let stamp = SidecarFile.stamp(bytes), stamp.take == site.name.stem, let version = stamp.version,
            isLater(version, than: fieldfareVersion) || stamp.schema ?? 1 > 1
        {
            return .newer(version: version)
        }
        return .damaged("\(path): it is damaged")
    }

    /// Whether there is finished sound of the take next to a sidecar that lists none.
    private static func hasSound(beside sidecar: Sidecar, at site: TakeSite) throws(FileError) -> Bool {
        switch try sidecar.surroundings(in: "\(site.takes.path)/\(site.name.day)", files: site.files) {
        case .goesOn: false
        case .finished(let omissions): omissions.contains { $0.kind == .unlisted }
        }
    }

    /// The sidecar in the bytes of a file. Nil if it belongs to another take, or if a recorder could not have written
    /// its figures.
    static func credible(_ bytes: [UInt8], path: String, for take: TakeName) -> Sidecar? {
        guard let sidecar = try? SidecarFile.sidecar(bytes, path: path), sidecar.isCredible(for: take),
            sidecar.parts.allSatisfy({ LeftoverTake.number($0, of: take) != nil })
        else { return nil }
        return sidecar
    }

    /// Whether a version such as `0.2.0` is later than another one.
    private static func isLater(_ version: String, than other: String) -> Bool {
        func numbers(_ text: String) -> [Int] {
            let numbers = text.split { !$0.isASCII || !$0.isNumber }.prefix(3).map { Int($0) ?? 0 }
            return numbers + [Int](repeating: 0, count: 3 - numbers.count)
        }
        return numbers(other).lexicographicallyPrecedes(numbers(version))
    }
}

extension TakesDirectory {
    /// Whether a finished take has a damaged or unreadable sidecar. The read error may be temporary: `TakeRecovery`
    /// reads the sidecar again.
    ///
    /// False for a take that may continue or that is recorded again.
    /// - Throws: `FileError` if the storage failed in another way.
    public func isSidecarDamaged(of take: TakeName) throws(FileError) -> Bool {
        guard !resumptions.contains(take) else { return false }
        let site = TakeSite(files: files, takes: folder, name: take)
        do throws(LeftoverProblem) {
            if case .damaged = try SidecarCondition(at: site, { true }) { return true }
            return false
        } catch {
            if case .failed(let error) = error, error.code != ENOENT { throw error }
            return false
        }
    }

    /// The finished takes with damaged sidecars, by number. Reads all sidecars, and skips those for which
    /// `isSidecarDamaged` throws.
    public func takesWithDamagedSidecars() throws(FileError) -> [TakeName] {
        try takes().filter { (try? isSidecarDamaged(of: $0)) ?? false }
    }
}
