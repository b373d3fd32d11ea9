import Glibc
import Testing

@testable import SoundCard

@Suite struct OwnUseTests {
    private final class Trace { var waits = 0, attempts = 0 }

    private let trace = Trace()

    /// Opens a PCM whose first attempts fail with these codes.
    private func open(_ codes: [Int32], heldBy holder: OwnUse.Holder = .thisProcess) -> Result<Int, SoundCardError> {
        let use = OwnUse(holder: { holder }, wait: { [trace] in trace.waits += 1 })
        do throws(SoundCardError) {
            return .success(
                try use.open { () throws(SoundCardError) in
                    defer { trace.attempts += 1 }
                    guard trace.attempts < codes.count else { return trace.attempts }
                    throw SoundCardError("hw:CARD=Mic", "open", status: -codes[trace.attempts])
                })
        } catch {
            return .failure(error)
        }
    }

    private func code(_ result: Result<Int, SoundCardError>) -> Int32? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func `a PCM that this process holds is waited for until it is closed`() {
        #expect(try! open([EBUSY, EBUSY, EBUSY]).get() == 3)
        #expect(trace.waits == 3)
    }

    @Test func `it is waited for at most 2 s`() {
        #expect(code(open(Array(repeating: EBUSY, count: 1000))) == EBUSY)
        #expect(trace.waits == 100)
        #expect(trace.attempts == 101)
    }

    @Test func `a PCM that another process holds is busy at once`() {
        #expect(code(open([EBUSY], heldBy: .another)) == EBUSY)
        #expect(trace.waits == 0)
    }

    @Test func `a PCM that was closed since the attempt is tried once more at once`() {
        #expect(try! open([EBUSY], heldBy: .none).get() == 1)
        #expect(trace.waits == 0)
    }

    @Test func `a PCM that is busy though no process holds it is tried twice`() {
        #expect(code(open(Array(repeating: EBUSY, count: 10), heldBy: .none)) == EBUSY)
        #expect(trace.attempts == 2)
    }

    @Test(arguments: [ENODEV, EACCES, EIO]) func `no other error is waited out`(error: Int32) {
        #expect(code(open([error])) == error)
        #expect(trace.waits == 0)
        #expect(code(open([EBUSY, error])) == error)
    }
}
