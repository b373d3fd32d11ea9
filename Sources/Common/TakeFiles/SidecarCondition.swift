import Glibc
public import Takes

/// The condition of the file with the name of a finished take's sidecar.
enum SidecarCondition {
    /// The take's sidecar.
    case whole(Sidecar)
    /// One that a later version wrote, and this one cannot read.
    case newer(version: String)
    /// None of this take, for this reason.
    case damaged(String)

    /// Errors of a storage that cannot give back what it holds: they may pass.
    static let unreadable = [EIO, EUCLEAN, EBADMSG]
    /// The number of reads after which a file counts as unreadable.
    static let attempts = 3

    /// Reads what is under the name.
    /// - Parameter storageAnswers: whether the storage does, although the file cannot be read.
    /// - Throws: `failed` if the storage fails, or refuses to answer: nothing is known of the file then.
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
            // A folder, a pipe, a link.
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

    /// Whether finished sound of the take lies beside a sidecar that lists none.
    private static func hasSound(beside sidecar: Sidecar, at site: TakeSite) throws(FileError) -> Bool {
        switch try sidecar.surroundings(in: "\(site.takes.path)/\(site.name.day)", files: site.files) {
        case .goesOn: false
        case .finished(let omissions): omissions.contains { $0.kind == .unlisted }
        }
    }

    /// The sidecar in the bytes of a file; nil if it belongs to another take, or no recorder writes such figures.
    static func credible(_ bytes: [UInt8], path: String, for take: TakeName) -> Sidecar? {
        guard let sidecar = try? SidecarFile.sidecar(bytes, path: path), sidecar.isCredible(for: take),
            sidecar.parts.allSatisfy({ LeftoverTake.number($0, of: take) != nil })
        else { return nil }
        return sidecar
    }

    /// Whether a version such as `0.2.0` comes after another one.
    private static func isLater(_ version: String, than other: String) -> Bool {
        func numbers(_ text: String) -> [Int] {
            let numbers = text.split { !$0.isASCII || !$0.isNumber }.prefix(3).map { Int($0) ?? 0 }
            return numbers + [Int](repeating: 0, count: 3 - numbers.count)
        }
        return numbers(other).lexicographicallyPrecedes(numbers(version))
    }
}

extension TakesDirectory {
    /// Whether a finished take is one without its sidecar: what is under its name is damaged, or cannot be read. It may be read wrongly
    /// just now: `TakeRecovery` reads it again.
    ///
    /// A take that may go on, or is recorded again, is not.
    /// - Throws: `FileError`: the storage failed in another way.
    public func isSidecarDamaged(of take: TakeName) throws(FileError) -> Bool {
        guard !mayGoOn(take) else { return false }
        let site = TakeSite(files: files, takes: folder, name: take)
        do throws(LeftoverProblem) {
            if case .damaged = try SidecarCondition(at: site, { true }) { return true }
            return false
        } catch {
            if case .failed(let error) = error, error.code != ENOENT { throw error }
            return false
        }
    }

    /// The finished takes whose sidecars are damaged, by number. Reads all sidecars; one that may not be read is passed over.
    public func takesWithDamagedSidecars() throws(FileError) -> [TakeName] {
        try takes().filter { (try? isSidecarDamaged(of: $0)) ?? false }
    }
}
