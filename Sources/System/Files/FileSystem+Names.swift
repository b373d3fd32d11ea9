import Glibc

extension FileSystem {
    /// The identity of a file that was just made, or nil if the file system does not report that the name refers to
    /// this file.
    package func knownIdentity(of file: OpenFile) -> FileIdentity? {
        guard let status = try? status(of: file), let found = try? self.status(named: file.path) else { return nil }
        return found.identity == status.identity ? found.identity : nil
    }

    /// Whether the name refers to this file, or to anything if `identity` is nil. A symbolic link is not followed. Nil
    /// if the storage does not answer.
    package func has(_ path: String, _ identity: FileIdentity?) -> Bool? {
        do throws(FileError) {
            let found = try status(named: path)
            return identity.map { $0 == found.identity } ?? true
        } catch {
            return error.isAbsence ? false : nil
        }
    }

    /// Renames an object that another program put in the place of a file or folder.
    /// - Returns: the new name, or nil if there was nothing to rename.
    @discardableResult package func setAside(_ path: String) throws(FileError) -> String? {
        guard has(path, nil) == true else { return nil }
        for number in 1...99 {
            let other = "\(path).other\(number)"
            guard has(other, nil) == false else { continue }
            try rename(path, to: other)
            return other
        }
        throw FileError("rename", path, code: EEXIST)
    }

    package static func isSetAside(_ name: String) -> Bool {
        guard let ending = name.split(separator: ".").last else { return false }
        return ending.hasPrefix("other") && Int(ending.dropFirst("other".count)) != nil
    }

    /// Sets aside the object with a name that a file must get, unless it is a regular file.
    package func makeWay(for path: String) throws(FileError) {
        guard let found = try? status(named: path), found.kind != .file else { return }
        try setAside(path)
    }
}

extension FileError {
    /// Whether the name does not exist.
    package var isAbsence: Bool { [ENOENT, ENOTDIR, ELOOP].contains(code) }
}
