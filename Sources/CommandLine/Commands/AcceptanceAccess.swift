package import Doctor
package import Lines
import Ring
package import Settings
package import SoundCard
import Takes

/// What the acceptance of a kit needs of this machine.
package struct AcceptanceAccess: Sendable {
    /// A storage, and what is recorded to it.
    package struct Storage: Equatable, Sendable {
        /// The folder of the takes.
        package var directory: String
        /// What a second of a take needs.
        package var bytesPerSecond: Double
        /// So much stays free.
        package var reserveBytes: Int64
    }

    /// The lines that there are, open or not.
    package var lines: @Sendable () -> [LineReport] = { LineReport.list().lines }
    /// Opens the buttons' lines, while no recorder holds them.
    package var openButtons: @Sendable (Settings) -> any PressSource = { LinePresses($0.panel, clock: SystemClock()) }
    /// The sound cards that are present, as far as they are known without opening one.
    package var cards: @Sendable () -> [CardReport] = { SoundCards().reports(mayOpen: { false }) }
    /// Opens the card, while no recorder has it open.
    package var openMicrophone: @Sendable (Settings) throws(LevelFailure) -> any LevelSource = {
        settings throws(LevelFailure) in
        SoundCards.prepareProcess()
        return try CardLevels(CaptureRequest(settings.capture), clock: SystemClock())
    }
    /// Measures how fast a storage is.
    package var measureSpeed: @Sendable (Storage) -> StorageProbe.Outcome = {
        StorageProbe.run(
            in: $0.directory, bytesPerSecond: $0.bytesPerSecond, reserveBytes: $0.reserveBytes, brake: Brake())
    }
    /// Tests whether a storage has the memory that it says, until it is to end.
    package var testCapacity: @Sendable (Storage, () -> CapacityProbe.Ending?) -> CapacityProbe.Outcome = {
        storage, ending in
        CapacityProbe.run(
            in: storage.directory, bytesPerSecond: storage.bytesPerSecond, reserveBytes: storage.reserveBytes,
            seed: .random(in: 0 ... .max), device: BackingDevice(of: storage.directory), ending: ending)
    }
    /// The model name of the machine, or nil if the system does not know it.
    package var model: @Sendable () -> String? = {
        SystemFile.words("/proc/device-tree/model") ?? SystemFile.words("/sys/class/dmi/id/product_name")
    }
}
