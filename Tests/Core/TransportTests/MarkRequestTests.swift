import Takes
import Testing
import Transport

struct MarkRequestTests {
    private func problem(_ change: (inout MarkRequest) -> Void) -> String? {
        var request = MarkRequest(content: Sidecar.Marker.Content())
        change(&request)
        return request.problem
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -0.001, 1.001])
    func `a score that is none is refused`(score: Double) {
        #expect(problem { $0.content.score = score } == "score: found \(score), allowed is a number from 0 to 1")
    }

    @Test(arguments: [Double.nan, .infinity, -1, 10_000_001])
    func `a frequency that is none is refused`(hertz: Double) {
        let sentence = "found \(hertz), allowed is a frequency from 0 to 10000000 Hz"
        #expect(problem { $0.content.lowHz = hertz } == "low_hz: \(sentence)")
        #expect(problem { $0.content.highHz = hertz } == "high_hz: \(sentence)")
    }

    @Test func `what lies at a limit is accepted`() {
        #expect(
            problem {
                $0.place = .frame(.last)
                $0.content.endFrame = .last
                ($0.content.score, $0.content.lowHz, $0.content.highHz) = (1, 0, 10_000_000)
                $0.content.label = String(repeating: "ä", count: 100)
            } == nil)
        #expect(problem { $0.place = .past(.ago(.seconds(86_400))) } == nil)
        #expect(problem { $0.place = .past(.raw(nanoseconds: 0)) } == nil)
    }

    @Test(arguments: ["a\nb", "\u{0}", "\u{7f}", "\u{85}"])
    func `a label is one line`(text: String) {
        #expect(problem { $0.content.label = text } == "label: found a control character, allowed is one line of text")
    }

    @Test func `a place that no take has is refused`() {
        #expect(problem { $0.place = .past(.raw(nanoseconds: -1)) }?.hasPrefix("raw_ns: found -1, ") == true)
        #expect(problem { $0.place = .past(.ago(.seconds(86_401))) }?.hasPrefix("ago_ms: found 86401000, ") == true)
        #expect(problem { $0.content.endFrame = .last + 1 }?.hasPrefix("end_frame: found 4398046511105, ") == true)
        #expect(
            problem { $0.content.by = String(repeating: "x", count: 201) }
                == "by: found 201 bytes, allowed are 1 to 200")
    }
}
