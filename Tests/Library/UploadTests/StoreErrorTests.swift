import Testing

@testable import Upload

struct StoreErrorTests {
    @Test(
        arguments: [
            (9 << 20, 8 << 20, "9 MiB must be sent, 8 MiB are free"),
            (5000, 4000, "5 KiB must be sent, 3 KiB are free"),
            (1025, 1024, "2 KiB must be sent, 1 KiB are free"),
        ] as [(Int64, Int64, String)])
    func `what a full store lacks is never the same as what it has`(wanted: Int64, free: Int64, sentence: String) {
        #expect(StoreError.lack(wanted, "sent", free: free) == sentence)
    }
}
