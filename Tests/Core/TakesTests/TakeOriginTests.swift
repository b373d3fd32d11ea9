import Takes
import Testing

struct TakeOriginTests {
    private let id = KitID("00112233445566778899aabbccddeeff")!
    private let stem = "heron07-0042-061811Z"

    @Test func `its text is the kit's id and the number, or the stem, and is read back`() {
        #expect(TakeOrigin.kit(id, number: 42).description == "00112233445566778899aabbccddeeff:42")
        #expect(TakeOrigin.stem(stem).description == stem)
        for origin in [TakeOrigin.kit(id, number: 42), .kit(id, number: 0), .stem(stem)] {
            #expect(TakeOrigin(origin.description) == origin)
        }
    }

    @Test(arguments: [
        "heron07:42", "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff:042", ":", "",
    ])
    func `what is not a kit's id and a number is a stem`(text: String) {
        #expect(TakeOrigin(text) == .stem(text))
    }

    @Test func `a take of which the stem alone is known may be any of that stem, and kits' takes are told apart`() {
        let other = KitID("ffeeddccbbaa99887766554433221100")!
        let takes = [nil, id, other].map { TakeIdentity(stem: stem, number: 42, kitID: $0) }
        let maybe = takes.map { take in takes.map(take.mayBe) }
        #expect(maybe == [[true, true, true], [true, true, false], [true, false, true]])
        #expect(!takes[1].mayBe(TakeIdentity(stem: "owl-0042-061811Z", number: 42, kitID: id)))
    }
}
