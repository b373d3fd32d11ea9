import Testing
import Transport

@Suite struct CommandTests {
    @Test(arguments: [
        ("last", TakeReference.last), ("42", .number(42)), ("0042", .number(42)),
        ("heron07-0042-061811Z", .stem("heron07-0042-061811Z")), ("lastly", .stem("lastly")),
    ])
    func `a take is named by stem, number or last`(text: String, reference: TakeReference) {
        #expect(TakeReference(text) == reference)
    }

    @Test func `each kind of refusal has its name on the socket and its exit status`() {
        let codes = Refusal.Code.allCases.map { "\($0.rawValue) \($0.exitStatus)" }
        #expect(
            codes == ["usage 64", "bad-data 65", "not-found 66", "busy 75", "denied 77", "io 74", "internal 70"])
    }

    @Test func `the lowest fault code comes first`() {
        let codes: [Fault.Code] = [.signal, .noCard, .settings, .clockUnset]
        #expect(codes.sorted() == [.noCard, .clockUnset, .settings, .signal])
        #expect(Fault.Code.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 7, 8])
    }
}
