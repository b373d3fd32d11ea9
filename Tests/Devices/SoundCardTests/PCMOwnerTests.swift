import Glibc
import Testing

@testable import SoundCard

struct PCMOwnerTests {
    private func tree() throws -> MadeUpTree {
        let tree = MadeUpTree()
        try tree.addCard(1, id: "Mic", device: "platform/soc/soc:sound", bus: "platform", pcms: ["0c", "1c", "1p"])
        tree.write("proc/asound/card1/pcm0c/sub0/status", "closed")
        tree.write("proc/asound/card1/pcm1c/sub0/status", "closed")
        tree.write(
            "proc/asound/card1/pcm1c/sub1/status", "state: RUNNING\nowner_pid   : 815\ntrigger_time: 12.5")
        // The kernel names the thread that opened it.
        tree.write("proc/815/status", "Name:\talsa-source\nTgid:\t812\nPid:\t815")
        tree.write("proc/815/comm", "alsa-source")
        tree.write("proc/812/comm", "pulseaudio")
        tree.write("proc/asound/card1/pcm1p/sub0/status", "state: RUNNING\nowner_pid   : 900")
        tree.write("proc/900/comm", "aplay")
        return tree
    }

    @Test func `the process that holds a device is found`() throws {
        let tree = try tree()
        #expect(PCMOwner.of(.capture, card: 1, device: 0, root: tree.root) == nil)
        #expect(PCMOwner.of(.capture, card: 2, device: 0, root: tree.root) == nil)
        #expect(
            PCMOwner.of(.capture, card: 1, device: 1, root: tree.root)
                == PCMOwner(processID: 812, processName: "pulseaudio"))
        #expect(
            PCMOwner.of(.playback, card: 1, device: 1, root: tree.root)
                == PCMOwner(processID: 900, processName: "aplay"))
        #expect(PCMOwner.of(.playback, card: 1, device: 0, root: tree.root) == nil)
    }

    @Test func `a process that may not be read is named by its number`() throws {
        let tree = MadeUpTree()
        tree.write("proc/asound/card0/pcm0c/sub0/status", "owner_pid : 7")
        #expect(PCMOwner.of(.capture, card: 0, device: 0, root: tree.root)?.summary == "pid 7")
    }

    @Test(arguments: ["hw:CARD=Mic,DEV=1", "hw:Mic,1", "hw:1,1", "plughw:CARD=Mic,DEV=1"])
    func `an error of a busy device names the process that holds it`(name: String) throws {
        let tree = try tree()
        let cards = SoundCards(root: tree.root)
        let busy = SoundCardError(name, "open", status: -EBUSY, detail: "chatter")
        #expect(
            cards.explain(busy).description
                == "capture: \(name): cannot open: Device or resource busy (held by pid 812, pulseaudio)")
        let playing = SoundCardError(name, "open", status: -EBUSY, direction: .playback)
        #expect(
            cards.explain(playing).description
                == "play: \(name): cannot open: Device or resource busy (held by pid 900, aplay)")
    }

    @Test(arguments: ["hw:CARD=Mic", "hw:CARD=Other,DEV=1", "hw:", "default"])
    func `an error of a device without a known holder stays as it is`(name: String) throws {
        let tree = try tree()
        let busy = SoundCardError(name, "open", status: -EBUSY)
        #expect(SoundCards(root: tree.root).explain(busy) == busy)
        let gone = SoundCardError("hw:1,1", "open", status: -ENODEV)
        #expect(SoundCards(root: tree.root).explain(gone) == gone)
    }
}
