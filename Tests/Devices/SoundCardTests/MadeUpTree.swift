import Foundation
import TestBench

/// A folder that looks like the kernel's `/sys` and `/proc`, removed with this object.
final class MadeUpTree {
    private let folder = TestFolder()
    var root: String { folder.path }

    func write(_ path: String, _ text: String = "") { folder.write(text + "\n", to: path) }

    func link(_ path: String, to target: String) throws {
        folder.makeFolder((path as NSString).deletingLastPathComponent)
        try FileManager.default.createSymbolicLink(atPath: "\(root)/\(path)", withDestinationPath: target)
    }

    /// A card whose device is the folder `device` below `/sys/devices`, on `bus`, with PCM devices such as `0c`.
    func addCard(_ index: Int, id: String, device: String, bus: String, pcms: [String]) throws {
        let folder = "sys/devices/\(device)"
        write("sys/bus/\(bus)/uevent")
        write("\(folder)/uevent")
        try link("\(folder)/subsystem", to: "\(root)/sys/bus/\(bus)")
        write("\(folder)/sound/card\(index)/id", id)
        try link("\(folder)/sound/card\(index)/device", to: "../../../\((device as NSString).lastPathComponent)")
        try link("sys/class/sound/card\(index)", to: "../../devices/\(device)/sound/card\(index)")
        for pcm in pcms {
            write("sys/class/sound/pcmC\(index)D\(pcm)/dev")
            write("proc/asound/card\(index)/pcm\(pcm)/info")
        }
    }
}
