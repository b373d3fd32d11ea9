import CLinux
import Files
import Glibc

/// A folder for takes with an identifier of its storage.
public struct Storage: Hashable, Sendable {
    public var path: String
    /// The file system's own identifier and the folder. It is the same after each mount.
    public var mark: String

    init(path: String, mark: String) {
        self.path = path
        self.mark = mark
    }

    /// The storage on which a folder is now, or nil if the folder does not exist.
    public init?(at path: String) {
        self.init(at: path, udev: "/run/udev/data")
    }

    /// - Parameter udev: the folder of udev's database of block devices.
    init?(at path: String, udev: String) {
        var file = stat()
        var system = statfs()
        guard unsafe stat(path, &file) == 0, file.st_mode & S_IFMT == S_IFDIR, unsafe statfs(path, &system) == 0 else {
            return nil
        }
        self.path = path
        let device = file.st_dev
        let number = "\(gnu_dev_major(device)):\(gnu_dev_minor(device))"
        mark = "\(Self.uuid(ofDevice: number, udev: udev) ?? Self.identifier(system, number)) \(path)"
    }

    /// The UUID of a block device's file system in udev's database. For FAT and exFAT it is available only there.
    private static func uuid(ofDevice number: String, udev: String) -> String? {
        guard let bytes = try? FileSystem().contents("\(udev)/b\(number)", limit: 64 << 10) else { return nil }
        let key = "E:ID_FS_UUID="
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(key) }
        return line.map { "uuid:\($0.dropFirst(key.count))" }
    }

    /// The kernel's file system id, or the device number if the id is zero.
    private static func identifier(_ system: statfs, _ device: String) -> String {
        let parts = (UInt32(bitPattern: system.f_fsid.__val.0), UInt32(bitPattern: system.f_fsid.__val.1))
        guard parts != (0, 0) else { return "device:\(device)" }
        return "fsid:\(String(parts.0, radix: 16))-\(String(parts.1, radix: 16))"
    }
}
