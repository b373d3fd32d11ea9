import Glibc

/// What has a name.
extension FileSystem {
    /// What has the name of a file that was made just now; nil if the file system does not report that it is this file.
    func knownIdentity(of file: OpenFile) -> FileIdentity? {
        guard let status = try? status(of: file), let found = try? self.status(named: file.path) else { return nil }
        return found.identity == status.identity ? found.identity : nil
    }

    /// Whether a file, or anything, has a name; a link is not followed. Nil if the storage does not answer.
    func has(_ path: String, _ identity: FileIdentity?) -> Bool? {
        do throws(FileError) {
            let found = try status(named: path)
            return identity.map { $0 == found.identity } ?? true
        } catch {
            return error.isAbsence ? false : nil
        }
    }

    /// Gives what another program put in the place of a file, or of a folder, another name.
    /// - Returns: that name; nil if there is nothing.
    @discardableResult func setAside(_ path: String) throws(FileError) -> String? {
        guard has(path, nil) == true else { return nil }
        for number in 1...99 {
            let other = "\(path).other\(number)"
            guard has(other, nil) == false else { continue }
            try rename(path, to: other)
            return other
        }
        throw FileError("rename", path, code: EEXIST)
    }

    /// Whether a name is one that `setAside` gives.
    static func isSetAside(_ name: String) -> Bool {
        guard let ending = name.split(separator: ".").last else { return false }
        return ending.hasPrefix("other") && Int(ending.dropFirst("other".count)) != nil
    }

    /// Sets aside what has the name that a file is to get, if it is a folder, a link, or anything else than a file.
    func makeWay(for path: String) throws(FileError) {
        guard let found = try? status(named: path), found.kind != .file else { return }
        try setAside(path)
    }
}

extension FileError {
    /// Whether nothing has the name.
    var isAbsence: Bool { [ENOENT, ENOTDIR, ELOOP].contains(code) }
}
