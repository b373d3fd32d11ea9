import Foundation

/// A folder that looks like the kernel's `/sys` and `/proc`, removed with this object.
final class MadeUpTree {
    let root: String

    init() throws {
        root = FileManager.default.temporaryDirectory.appending(path: "fieldfare-tree-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    func write(_ path: String, _ text: String = "") throws {
        let file = "\(root)/\(path)"
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try (text + "\n").write(toFile: file, atomically: false, encoding: .utf8)
    }

    func link(_ path: String, to target: String) throws {
        let file = "\(root)/\(path)"
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: target)
    }

    /// A card whose device is the folder `device` below `/sys/devices`, on `bus`, with PCM devices such as `0c`.
    func addCard(_ index: Int, id: String, device: String, bus: String, pcms: [String]) throws {
        let folder = "sys/devices/\(device)"
        try write("sys/bus/\(bus)/uevent")
        try write("\(folder)/uevent")
        try link("\(folder)/subsystem", to: "\(root)/sys/bus/\(bus)")
        try write("\(folder)/sound/card\(index)/id", id)
        try link("\(folder)/sound/card\(index)/device", to: "../../../\((device as NSString).lastPathComponent)")
        try link("sys/class/sound/card\(index)", to: "../../devices/\(device)/sound/card\(index)")
        for pcm in pcms {
            try write("sys/class/sound/pcmC\(index)D\(pcm)/dev")
            try write("proc/asound/card\(index)/pcm\(pcm)/info")
        }
    }
}
