import TakeFiles
import Testing

@testable import Commands

@Suite final class PowerCommandTests {
    private let scratch = ScratchFolder()
    private let files = FileSystem()
    private let governors = ["policy0", "policy2"].map { "devices/system/cpu/cpufreq/\($0)/scaling_governor" }

    private func write(_ text: String, to name: String) throws {
        var folder = scratch.path
        for part in name.split(separator: "/").dropLast() {
            folder += "/\(part)"
            if (try? files.attributes(folder)) == nil { _ = try files.makeFolder(folder) }
        }
        try files.write(Array(text.utf8), to: try files.create("\(scratch.path)/\(name)", isNew: false), at: 0)
    }

    private func content(_ name: String) throws -> String {
        String(decoding: try files.contents("\(scratch.path)/\(name)"), as: UTF8.self)
    }

    /// The kernel's files on a Pi.
    private func makeMachine() throws {
        for governor in governors { try write("ondemand", to: governor) }
        try write("cpufreq-dt", to: "devices/system/cpu/cpufreq/boost")
        for (number, type) in ["bluetooth", "wlan"].enumerated() {
            try write(type, to: "class/rfkill/rfkill\(number)/type")
            try write("0", to: "class/rfkill/rfkill\(number)/soft")
        }
        try write("detect", to: "class/drm/card1-HDMI-A-1/status")
        try write("detect", to: "class/drm/card1-Writeback-1/status")
    }

    private func power(_ settings: String) throws -> (status: Int32, output: [String], complaints: [String]) {
        try write(settings, to: "settings.toml")
        var access = bareMachine
        access.kernelFiles = scratch.path
        return run(["power", "--settings", "\(scratch.path)/settings.toml"], access: access)
    }

    @Test func `what the settings name is switched, and nothing else`() throws {
        try makeMachine()
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
        #expect(try governors.map(content).allSatisfy { $0.hasPrefix("powersave") })
        #expect(try content("class/rfkill/rfkill0/soft") == "0" && content("class/rfkill/rfkill1/soft") == "1")
        #expect(try content("class/drm/card1-HDMI-A-1/status").hasPrefix("off"))
        #expect(try content("class/drm/card1-Writeback-1/status") == "detect")
        #expect(try power("power = { wifi = \"on\", hdmi = \"on\" }").status == 0)
        #expect(
            try content("class/rfkill/rfkill1/soft") == "0" && content("class/drm/card1-HDMI-A-1/status") == "detect")
    }

    @Test func `without settings nothing is switched`() throws {
        try makeMachine()
        let (status, output, complaints) = try power("")
        #expect((status, output, complaints) == (0, [], []))
        #expect(try content(governors[0]) == "ondemand" && content("class/rfkill/rfkill1/soft") == "0")
    }

    @Test func `what the machine does not have is named, and the rest is switched`() throws {
        try write("wlan", to: "class/rfkill/rfkill0/type")
        try write("0", to: "class/rfkill/rfkill0/soft")
        let (status, output, complaints) = try power(
            "power = { governor = \"powersave\", wifi = \"off\", hdmi = \"off\" }")
        #expect(status == 74 && output == ["Wi-Fi: off (\(scratch.path)/class/rfkill/rfkill0/soft)"])
        #expect(
            complaints == [
                "power: processor: this machine has none that can be switched: set it to \"keep\" in [power]",
                "power: HDMI: this machine has none that can be switched: set it to \"keep\" in [power]",
            ])
    }

    @Test func `settings of power that are wrong are named, others are the recorder's business`() throws {
        try makeMachine()
        let (status, output, complaints) = try power(
            "power = { governor = \"powrsave\", wifi = \"off\" }\nkit.name = 7")
        #expect(status == 78 && output.count == 1)
        #expect(complaints.count == 2 && complaints[0].contains("power.governor"))
        #expect(try power("kit.name = 7\npower.wifi = \"on\"").status == 0)
        #expect(try power("[power").status == 78)
    }

    @Test func `what the kernel refuses is named with its file`() throws {
        try write("wlan", to: "class/rfkill/rfkill0/type")
        _ = try files.makeFolder("\(scratch.path)/class/rfkill/rfkill0/soft")
        let (status, _, complaints) = try power("power = { wifi = \"off\" }")
        #expect(status == 74)
        #expect(
            complaints == [
                "power: Wi-Fi: off cannot be set: open \(scratch.path)/class/rfkill/rfkill0/soft: Is a directory"
            ])
    }
}
