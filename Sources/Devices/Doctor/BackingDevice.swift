internal import CLinux
package import Files
import Glibc

/// The block device of a folder's file system, as the kernel describes it.
package struct BackingDevice: Equatable, Sendable {
    /// The offset of the partition on its disk in bytes, or 0 if the device is not a partition.
    var start: Int64
    /// The size of the device.
    var byteCount: Int64
    /// The size of its disk.
    var diskByteCount: Int64

    init(start: Int64, byteCount: Int64, diskByteCount: Int64) {
        self.start = start
        self.byteCount = byteCount
        self.diskByteCount = diskByteCount
    }

    /// Fails if the file system has no block device, or the kernel does not report it.
    /// - Parameter root: the folder that contains `/sys`.
    package init?(of folder: String, root: String = "", files: FileSystem = FileSystem()) {
        guard let device = try? files.identity(folder).device else { return nil }
        let path = "\(root)/sys/dev/block/\(gnu_dev_major(dev_t(device))):\(gnu_dev_minor(dev_t(device)))"
        guard let byteCount = Self.bytes("\(path)/size"), byteCount > 0 else { return nil }
        self.byteCount = byteCount
        start = Self.bytes("\(path)/start") ?? 0
        let isPartition = SystemFile.firstLine("\(path)/partition") != nil
        diskByteCount = (isPartition ? Self.bytes("\(path)/../size") : nil) ?? byteCount
    }

    /// The kernel counts in sectors of 512 bytes, whatever the device's sector size.
    private static func bytes(_ path: String) -> Int64? {
        SystemFile.firstLine(path).flatMap { Int64($0) }.map { $0 * 512 }
    }
}
