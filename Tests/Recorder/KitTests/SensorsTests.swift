import History
import TestBench
import Testing

@testable import Kit

@Suite final class SensorsTests {
    private let root = TestFolder()
    private var found: Measurement { Sensors(root: root.path).measurement() }

    @Test func `a machine without sensors measures nothing`() {
        #expect(found.isEmpty)
        #expect(!Sensors(root: root.path).wasResetByWatchdog)
    }

    @Test func `a sensor of the kernel's zones and of a driver is one, and one that is not connected is none`() {
        root.write("cpu-thermal", to: "/sys/class/thermal/thermal_zone0/type")
        root.write("48312", to: "/sys/class/thermal/thermal_zone0/temp")
        root.write("cpu_thermal", to: "/sys/class/hwmon/hwmon0/name")
        root.write("48000", to: "/sys/class/hwmon/hwmon0/temp1_input")
        root.write("drivetemp", to: "/sys/class/hwmon/hwmon1/name")
        root.write("-5250", to: "/sys/class/hwmon/hwmon1/temp1_input")
        root.write("lm75", to: "/sys/class/hwmon/hwmon2/name")
        root.write("Outside Air", to: "/sys/class/hwmon/hwmon2/temp2_label")
        root.write("21000", to: "/sys/class/hwmon/hwmon2/temp2_input")
        root.write("-273150", to: "/sys/class/hwmon/hwmon2/temp3_input")
        root.write("gone", to: "/sys/class/hwmon/hwmon2/temp4_input")
        #expect(found.temperatures == ["cpu-thermal": 48.312, "drivetemp": -5.25, "lm75-outside-air": 21])
    }

    @Test func `the supply is judged by the driver's alarm, else by the firmware's flags`() {
        root.write("50005\n", to: "/sys/devices/platform/soc/soc:firmware/get_throttled")
        #expect(found.throttled == 0x50005 && found.underVoltage == true)
        root.write("rpi_volt", to: "/sys/class/hwmon/hwmon0/name")
        root.write("0", to: "/sys/class/hwmon/hwmon0/in0_lcrit_alarm")
        #expect(found.underVoltage == false)
    }

    @Test func `an eMMC says how much of its life is used, in steps of ten, and what its reserve is`() {
        root.write("0x01 0x03", to: "/sys/block/mmcblk0/device/life_time")
        root.write("0x02", to: "/sys/block/mmcblk0/device/pre_eol_info")
        // A card that does not report its wear.
        root.write("0x00 0x00", to: "/sys/block/mmcblk1/device/life_time")
        root.write("0x00", to: "/sys/block/mmcblk1/device/pre_eol_info")
        #expect(found.storageWear == ["mmcblk0": 30])
        #expect(found.preEndOfLife == ["mmcblk0": 2])
    }

    @Test func `a disk's own report counts as long as that very disk is there`() {
        for (disk, sequence) in [("nvme0n1", 9), ("sda", 11), ("sdb", 12)] {
            root.write("\(sequence)", to: "/sys/block/\(disk)/diskseq")
        }
        root.write(
            #"{"smart_status":{"passed":true},"endurance_used":{"current_percent":3}}"#,
            to: "/run/fieldfare-storage/nvme0n1.9.json")
        root.write(#"{"smart_status":{"passed":false}}"#, to: "/run/fieldfare-storage/sda.11.json")
        root.write(#"{"smart_status":{"passed":false}}"#, to: "/run/fieldfare-storage/sdb.7.json")
        #expect(found.storageWear == ["nvme0n1": 3])
        #expect(found.isHealthy == ["nvme0n1": true, "sda": false])
    }

    @Test(arguments: [
        (#"{"nvme_smart_health_information_log":{"percentage_used":120}}"#, 120),
        (
            #"{"ata_device_statistics":{"pages":[{"number":0},{"number":7,"table":[{"offset":8,"name":"Percentage Used Endurance Indicator","value":7}]}]}}"#,
            7
        ),
        (#"{"endurance_used":{"current_percent":-1}}"#, nil), (#"{"smartctl":{"exit_status":2}}"#, nil),
        (#"{"endurance_used":{"current_percent":"#, nil), ("", nil),
    ])
    func `each kind of disk says in its own words how much is used`(_ json: String, _ percent: Int?) {
        #expect(DiskReport(json: json)?.usedPercent == percent)
    }
}
