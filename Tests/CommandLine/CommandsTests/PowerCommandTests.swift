import Files
import TestBench
import Testing

@testable import Commands

@Suite final class PowerCommandTests {
    private let scratch = TestFolder()
    private let files = FileSystem()
    private let governors = ["policy0", "policy2"].map { "devices/system/cpu/cpufreq/\($0)/scaling_governor" }

    /// The kernel's files on a Pi.
    private func makeMachine() {
        for governor in governors { scratch.write("ondemand", to: governor) }
        scratch.write("cpufreq-dt", to: "devices/system/cpu/cpufreq/boost")
        for (number, type) in ["bluetooth", "wlan"].enumerated() {
            scratch.write(type, to: "class/rfkill/rfkill\(number)/type")
            scratch.write("0", to: "class/rfkill/rfkill\(number)/soft")
        }
        scratch.write("detect", to: "class/drm/card1-HDMI-A-1/status")
        scratch.write("detect", to: "class/drm/card1-Writeback-1/status")
    }

    private func power(_ settings: String) throws -> (status: Int32, output: [String], complaints: [String]) {
        scratch.write(settings, to: "settings.toml")
        var access = bareMachine
        access.kernelFiles = scratch.path
        return run(["power", "--settings", "\(scratch.path)/settings.toml"], access: access)
    }

    @Test func `what the settings name is switched, and nothing else`() throws {
        makeMachine()
        let (status, output, complaints) = try power(
            "power = { governor = \"powersave\", wifi = \"off\", hdmi = \"off\" }")
        #expect(status == 0 && complaints.isEmpty)
        #expect(
            output == [
                "processor: powersave (\(scratch.path)/\(governors[0]))",
                "processor: powersave (\(scratch.path)/\(governors[1]))",
                "Wi-Fi: off (\(scratch.path)/class/rfkill/rfkill1/soft)",
                "HDMI: off (\(scratch.path)/class/drm/card1-HDMI-A-1/status)",
            ])
        #expect(governors.allSatisfy { scratch.text($0)?.hasPrefix("powersave") == true })
        #expect(scratch.text("class/rfkill/rfkill0/soft") == "0" && scratch.text("class/rfkill/rfkill1/soft") == "1")
        #expect(scratch.text("class/drm/card1-HDMI-A-1/status")?.hasPrefix("off") == true)
        #expect(scratch.text("class/drm/card1-Writeback-1/status") == "detect")
        #expect(try power("power = { wifi = \"on\", hdmi = \"on\" }").status == 0)
        #expect(scratch.text("class/rfkill/rfkill1/soft") == "0")
        #expect(scratch.text("class/drm/card1-HDMI-A-1/status") == "detect")
    }

    @Test func `without settings nothing is switched`() throws {
        makeMachine()
        let (status, output, complaints) = try power("")
        #expect((status, output, complaints) == (0, [], []))
        #expect(scratch.text(governors[0]) == "ondemand" && scratch.text("class/rfkill/rfkill1/soft") == "0")
    }

    @Test func `what the machine does not have is named, and the rest is switched`() throws {
        scratch.write("wlan", to: "class/rfkill/rfkill0/type")
        scratch.write("0", to: "class/rfkill/rfkill0/soft")
        let (status, output, complaints) = try power(
            "power = { governor = \"powersave\", wifi = \"off\", hdmi = \"off\" }")
        #expect(status == 74 && output == ["Wi-Fi: off (\(scratch.path)/class/rfkill/rfkill0/soft)"])
        #expect(
            complaints == [
                "power: processor: this machine has no such switch: set it to \"keep\" in [power]",
                "power: HDMI: this machine has no such switch: set it to \"keep\" in [power]",
            ])
    }

    @Test func `settings of power that are wrong are named, others are the recorder's business`() throws {
        makeMachine()
        let (status, output, complaints) = try power(
            "power = { governor = \"powrsave\", wifi = \"off\" }\nkit.name = 7")
        #expect(status == 78 && output.count == 1)
        #expect(complaints.count == 2 && complaints[0].contains("power.governor"))
        #expect(try power("kit.name = 7\npower.wifi = \"on\"").status == 0)
        #expect(try power("[power").status == 78)
    }

    @Test func `what the kernel refuses is named with its file`() throws {
        scratch.write("wlan", to: "class/rfkill/rfkill0/type")
        _ = try files.makeFolder("\(scratch.path)/class/rfkill/rfkill0/soft")
        let (status, _, complaints) = try power("power = { wifi = \"off\" }")
        #expect(status == 74)
        #expect(
            complaints == [
                "power: Wi-Fi: off cannot be set: open \(scratch.path)/class/rfkill/rfkill0/soft: Is a directory"
            ])
    }
}
