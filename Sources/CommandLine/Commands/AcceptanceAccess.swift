package import Doctor
import Files
package import Lines
import Ring
package import Settings
package import SoundCard
import Takes

/// Access to this machine for the acceptance of a kit.
package struct AcceptanceAccess: Sendable {
    /// A storage and its recording format.
    package struct Storage: Equatable, Sendable {
        package var directory: String
        package var bytesPerSecond: Double
        /// The space that stays free.
        package var reserveBytes: Int64
    }

    /// All lines, open or not.
    package var lines: @Sendable () -> [LineReport] = { LineReport.list().lines }
    /// Opens the buttons' lines. A recorder must not hold them.
    package var openButtons: @Sendable (Settings) -> any PressSource = { LinePresses($0.panel, clock: SystemClock()) }
    /// The present sound cards, as far as they are known without opening one.
    package var cards: @Sendable () -> [CardReport] = { SoundCards().reports(mayOpen: { false }) }
    /// Opens the card. A recorder must not have opened it.
    package var openMicrophone: @Sendable (Settings) throws(LevelFailure) -> any LevelSource = {
        settings throws(LevelFailure) in
        SoundCards.prepareProcess()
        return try CardLevels(CaptureRequest(settings.capture), clock: SystemClock())
    }
    package var measureSpeed: @Sendable (Storage) -> StorageProbe.Outcome = {
        StorageProbe.run(
            in: $0.directory, bytesPerSecond: $0.bytesPerSecond, reserveBytes: $0.reserveBytes, brake: Brake())
    }
    /// Tests whether a storage really has the memory it claims, until the closure returns an ending.
    package var testCapacity: @Sendable (Storage, () -> CapacityProbe.Ending?) -> CapacityProbe.Outcome = {
        storage, ending in
        CapacityProbe.run(
            in: storage.directory, bytesPerSecond: storage.bytesPerSecond, reserveBytes: storage.reserveBytes,
            seed: .random(in: 0 ... .max), device: BackingDevice(of: storage.directory), ending: ending)
    }
    /// The machine's model name, or nil if the system does not know it.
    package var model: @Sendable () -> String? = {
        SystemFile.words("/proc/device-tree/model") ?? SystemFile.words("/sys/class/dmi/id/product_name")
    }
}
