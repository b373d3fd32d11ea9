internal import CLinux
import Glibc
import SoundCard
package import TakeFiles

/// The block device that a folder's file system lies on, as the kernel knows it.
package struct BackingDevice: Equatable, Sendable {
    /// Where the partition begins on its disk, in bytes; 0: it is no partition.
    var start: Int64
    /// How large it is, in bytes.
    var byteCount: Int64
    /// How large its disk is, in bytes.
    var diskByteCount: Int64

    init(start: Int64, byteCount: Int64, diskByteCount: Int64) {
        self.start = start
        self.byteCount = byteCount
        self.diskByteCount = diskByteCount
    }

    /// Nil: it is none, or the kernel does not say.
    /// - Parameter root: the folder that `/sys` lies in.
    package init?(of folder: String, root: String = "", files: FileSystem = FileSystem()) {
        guard let device = try? files.identity(folder).device else { return nil }
        let path = "\(root)/sys/dev/block/\(gnu_dev_major(dev_t(device))):\(gnu_dev_minor(dev_t(device)))"
        guard let byteCount = Self.bytes("\(path)/size"), byteCount > 0 else { return nil }
        self.byteCount = byteCount
        start = Self.bytes("\(path)/start") ?? 0
        let isPartition = SystemFile.firstLine("\(path)/partition") != nil
        diskByteCount = (isPartition ? Self.bytes("\(path)/../size") : nil) ?? byteCount
    }

    /// The kernel counts in sectors of 512 bytes, whatever the device has.
    private static func bytes(_ path: String) -> Int64? {
        SystemFile.firstLine(path).flatMap { Int64($0) }.map { $0 * 512 }
    }
}
