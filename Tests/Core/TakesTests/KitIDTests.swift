import FoundationEssentials
import Takes
import Testing

struct KitIDTests {
    private let digits = "00112233445566778899aabbccddeeff"

    @Test func `it is 32 lower-case hexadecimal digits, and nothing else`() {
        #expect(KitID(digits)?.description == digits)
        for text in [
            "", "heron07", digits.uppercased(), String(digits.dropLast()), digits + "0", "0x" + digits.dropLast(2),
        ] {
            #expect(KitID(text) == nil)
        }
    }

    @Test(arguments: ["\"heron07\"", "42", "{}", "null", "\"00112233445566778899AABBCCDDEEFF\""])
    func `a sidecar whose kit_id is not one is read without it`(value: String) throws {
        let text = SidecarTests.text.replacing("\"kit_id\":\"\(digits)\"", with: "\"kit_id\":\(value)")
        var expected = SidecarTests.full
        expected.kitID = nil
        #expect(text != SidecarTests.text)
        #expect(try JSONDecoder().decode(Sidecar.self, from: Data(text.utf8)) == expected)
    }

    @Test func `a sidecar of a version without kit_id is read`() throws {
        let text = SidecarTests.text.replacing("\"kit_id\":\"\(digits)\",", with: "")
        #expect(text != SidecarTests.text)
        #expect(try JSONDecoder().decode(Sidecar.self, from: Data(text.utf8)).kitID == nil)
    }
}
