import Glibc
import Testing

@testable import Doctor

@Suite struct RightsCheckTests {
    private func rights(_ change: (inout Rights) -> Void = { _ in }) -> Rights {
        var rights = Rights(
            user: "fieldfare", groups: ["audio", "gpio"],
            nodes: [
                Rights.Node(path: "/dev/snd/controlC0", isUsable: true, group: "audio"),
                Rights.Node(path: "/dev/gpiochip0", isUsable: true, group: "gpio"),
            ], missing: [], capturePolicy: SCHED_FIFO, realTimeLimit: 60, lockLimit: nil)
        change(&rights)
        return rights
    }

    @Test func `all rights are well`() {
        let findings = RightsCheck(rights: rights(), isRecorder: true).findings
        #expect(findings.map(\.severity) == [.ok])
        #expect(findings[0].figures["capture_is_real_time"] == .text("yes"))
        #expect(findings[0].figures["memlock_limit_bytes"] == .unknown)
    }

    @Test func `a device that may not be used names its group`() {
        let poor = rights { $0.nodes[0].isUsable = false }
        let findings = RightsCheck(rights: poor, isRecorder: true).findings
        #expect(
            findings.map(\.message) == [
                "user fieldfare may not use /dev/snd/controlC0: add it to the group audio (usermod -aG audio fieldfare), then "
                    + "restart"
            ])
        #expect(findings.map(\.exitStatus) == [77])
    }

    @Test func `one card of several that may not be used is a warning, and lines that are not needed are none`() {
        var two = rights {
            $0.nodes.insert(Rights.Node(path: "/dev/snd/controlC1", isUsable: false, group: "audio"), at: 0)
        }
        #expect(RightsCheck(rights: two, isRecorder: true).findings.map(\.severity) == [.warning])
        two.nodes = [Rights.Node(path: "/dev/gpiochip0", isUsable: false, group: nil)]
        #expect(RightsCheck(rights: two, isRecorder: true, usesLines: false).findings.map(\.severity) == [.ok])
        #expect(RightsCheck(rights: two, isRecorder: true).findings.map(\.severity) == [.failure])
    }

    @Test func `a device that no group may use wants a udev rule, and many are one sentence`() {
        let poor = rights { rights in
            rights.nodes = (0..<5).map { Rights.Node(path: "/dev/snd/pcm\($0)", isUsable: false, group: nil) }
        }
        let findings = RightsCheck(rights: poor, isRecorder: true).findings
        #expect(findings.count == 1)
        #expect(
            findings[0].message.hasPrefix(
                "user fieldfare may not use /dev/snd/pcm0, /dev/snd/pcm1 and 3 more: only root"))
    }

    @Test func `rights of a person are no failure of the service`() {
        let poor = rights { $0.missing = ["capture: thread: cannot become real-time"] }
        #expect(RightsCheck(rights: poor, isRecorder: true).findings.map(\.exitStatus) == [77])
        #expect(RightsCheck(rights: poor, isRecorder: false).findings.map(\.severity) == [.warning])
    }

    @Test func `a capture thread that is not real-time is reported even if it had the right`() {
        let slow = rights { $0.capturePolicy = SCHED_OTHER }
        #expect(RightsCheck(rights: slow, isRecorder: true).findings.map(\.severity) == [.failure])
        let none = rights { $0.capturePolicy = nil }
        #expect(RightsCheck(rights: none, isRecorder: true).findings.map(\.severity) == [.ok])
    }

    @Test func `this process has a user, and groups with names`() {
        let rights = Rights.ofThisProcess()
        #expect(!rights.user.isEmpty)
        #expect(!rights.groups.isEmpty)
        // The test process captures from no card.
        #expect(rights.capturePolicy == nil)
    }
}
