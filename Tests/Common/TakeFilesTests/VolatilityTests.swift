import Files
import TakeFiles
import Testing

@Suite struct VolatilityTests {
    @Test func `only what is kept in memory loses all takes with the power`() {
        #expect(FileSystemKind.fat.volatility(at: "/takes") == nil)
        #expect(
            FileSystemKind.volatile("tmpfs").volatility(at: "/takes")
                == "/takes: is on tmpfs, which is kept in memory: all takes are lost with the power: name a directory on a card "
                + "or disk under [takes]")
    }
}
