import CLinux
import Glibc
import Settings

/// Files on this machine that occupy a path where the settings need a socket or a folder.
enum OccupiedPlaces {
    /// One sentence for each.
    static func problems(_ settings: Settings) -> [String] {
        let sockets = [("control.socket", settings.control.socket), ("library.socket", settings.library.socket)]
        var folders = [("takes.directory", settings.takes.folder), ("library.directory", settings.library.directory)]
        if let path = settings.outbox.folder.path { folders.append(("outbox.folder.path", path)) }
        return sockets.filter { isOther($0.1, than: S_IFSOCK, followsLinks: false) }.map { key, path in
            "\(key): \(path) is there, and no socket: name a path where nothing is"
        }
            + folders.filter { isOther($0.1, than: S_IFDIR, followsLinks: true) }.map { key, path in
                "\(key): \(path) is not a folder: name a folder, or an unused path"
            }
    }

    /// Whether the path exists and is of another kind.
    private static func isOther(_ path: String, than kind: mode_t, followsLinks: Bool) -> Bool {
        var information = stat()
        let status = unsafe followsLinks ? stat(path, &information) : lstat(path, &information)
        return status == 0 && information.st_mode & S_IFMT != kind
    }
}
