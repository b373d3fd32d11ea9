import DiskCalls
import TestBench
import Testing

@testable import Console

/// What a machine has, by the kernel's files.
@Suite(.waitsOnNamedThreads) struct KitPartsTests {
    private let machine = TestFolder()

    @Test func `a machine without anything has nothing`() {
        let parts = KitParts(root: machine.path)
        #expect(!parts.lines && !parts.playback && !parts.wifi && !parts.hdmi && !parts.alarm)
        #expect(parts.governors.isEmpty && parts.supplies.isEmpty)
    }

    @Test func `what is like a part, and is none, does not count`() {
        machine.write("bluetooth", to: "class/rfkill/rfkill0/type")
        machine.write("connected", to: "class/drm/card1-Writeback-1/status")
        machine.write("disabled", to: "class/rtc/rtc0/device/power/wakeup")
        machine.write("0", to: "class/sound/pcmC0D0c/dev")
        machine.write("1", to: "devices/system/cpu/cpufreq/boost")
        machine.write("1", to: "class/hwmon/hwmon0/in0_lcrit_alarm")
        machine.write("1", to: "bus/iio/devices/iio:device0/in_voltage_scale")
        #expect(KitParts(root: machine.path) == KitParts(root: "\(machine.path)/none"))
    }

    @Test func `each part of a kit is found`() {
        machine.write("", to: "bus/gpio/devices/gpiochip0/dev")
        machine.write("", to: "class/sound/pcmC1D0p/dev")
        machine.write("wlan\n", to: "class/rfkill/rfkill1/type")
        machine.write("", to: "class/drm/card1-HDMI-A-1/status")
        machine.write("enabled\n", to: "class/rtc/rtc0/device/power/wakeup")
        machine.write(
            "ondemand powersave \n", to: "devices/system/cpu/cpufreq/policy0/scaling_available_governors")
        machine.write("3900000", to: "class/power_supply/bat0/voltage_now")
        machine.write("max1363\n", to: "bus/iio/devices/iio:device0/name")
        machine.write("2048", to: "bus/iio/devices/iio:device0/in_voltage3_raw")
        machine.write("ina219\n", to: "class/hwmon/hwmon2/name")
        machine.write("3900", to: "class/hwmon/hwmon2/in1_input")
        let parts = KitParts(root: machine.path)
        #expect(parts.lines && parts.playback && parts.wifi && parts.hdmi && parts.alarm)
        #expect(parts.governors == ["ondemand", "powersave"])
        #expect(
            parts.supplies == [
                .init(path: "\(machine.path)/class/power_supply/bat0/voltage_now", name: "bat0"),
                .init(path: "\(machine.path)/bus/iio/devices/iio:device0/in_voltage3_raw", name: "max1363"),
                .init(path: "\(machine.path)/class/hwmon/hwmon2/in1_input", name: "ina219"),
            ])
    }
}
