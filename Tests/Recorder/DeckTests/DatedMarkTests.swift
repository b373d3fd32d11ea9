import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Markers that a program sets for earlier sound.
struct DatedMarkTests {
    private func refusal(_ rig: Rig, _ request: MarkRequest) -> Refusal? {
        var refusal: Refusal?
        rig.deck.perform(.mark(request)) { result in
            if case .failure(let why) = result { refusal = why }
        }
        return refusal
    }

    private func request(_ place: MarkRequest.Place, end: Int64? = nil, of take: TakeReference? = nil) -> MarkRequest {
        var request = MarkRequest(place, of: take, content: Sidecar.Marker.Content())
        request.content.endFrame = end.map { TakeFrame($0) }
        return request
    }

    @Test func `a dated marker lies at its frame, however it is dated`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(5))
        let pressed = rig.clock.now() - .seconds(5)
        #expect(refusal(rig, request(.past(.ago(.milliseconds(3500))))) == nil)
        #expect(refusal(rig, request(.frame(TakeFrame(16_001)), end: 24_000, of: .last)) == nil)
        #expect(
            refusal(rig, request(.past(.raw(nanoseconds: (pressed + .seconds(3)).nanoseconds)), end: 32_000)) == nil)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        let markers = try #require(try rig.sidecars().first?.markers).sorted { $0.atFrame < $1.atFrame }
        #expect(markers.map(\.endFrame) == [nil, TakeFrame(24_000), TakeFrame(32_000)])
        #expect(markers.count == 3)
        for (marker, seconds) in zip(markers, [1.5, 2, 3] as [Double]) {
            #expect(abs(marker.atFrame.count - Int64(seconds * 8000)) <= 120, "\(marker.atFrame.count)")
        }
        #expect(markers[1].atFrame == TakeFrame(16_001))
    }

    @Test func `a marker outside of the take is refused in one sentence`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(1000))
        let nothing = Refusal(.busy, "mark: nothing is being recorded: record a take first")
        #expect(refusal(rig, request(.frame(.first))) == nothing)
        rig.press(.record)
        rig.run(.seconds(2))
        for request in [request(.frame(TakeFrame(24_000))), request(.frame(.first), end: 24_000)] {
            let refused = try #require(refusal(rig, request))
            #expect(refused.code == .busy)
            #expect(refused.message.contains("found 24000, the take has 1"), "\(refused.message)")
        }
        let early = try #require(refusal(rig, request(.past(.ago(.seconds(5))))))
        #expect(early.code == .badData)
        #expect(early.message.hasSuffix("s before the take's first frame: mark what lies in the take"))
        let late = try #require(
            refusal(rig, request(.past(.raw(nanoseconds: (rig.clock.now() + .seconds(1)).nanoseconds)))))
        #expect(late == Refusal(.busy, "mark: that is 1.0 s ahead of the last frame: try once it is sampled"))
        let backward = try #require(refusal(rig, request(.past(.ago(.milliseconds(500))), end: 1)))
        #expect(
            backward.code == .usage && backward.message.hasPrefix("mark: end_frame: found 1, the marker is at frame 1"))
        let other = try #require(refusal(rig, request(.now, of: .number(99))))
        #expect(other.code == .notFound)
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().first?.markers == [])
        #expect(refusal(rig, request(.past(.ago(.zero)))) == nothing)
    }

    @Test(arguments: [(2.0, 2.0), (3.5, 3.0), (86_400.0, 3.0)])
    func `a take may begin with what was sampled before, as far as it is held`(ago: Double, expected: Double) throws {
        let rig = try Rig()
        rig.run(.seconds(3))
        let asked = rig.clock.now()
        var status: Status?
        rig.deck.perform(.recordFrom(.ago(.seconds(ago)))) { status = try? $0.get() }
        rig.run(.seconds(1))
        #expect(status?.state == .recording)
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(abs(Double(sidecar.preRollFrames) / 8000 - expected) < 0.05, "\(sidecar.preRollFrames)")
        #expect(abs(Double(sidecar.startedMonotonicNs) / 1e9 - (asked - .seconds(expected)).seconds) < 0.05)
        #expect(abs(Double(sidecar.frames) / 8000 - expected - 1) < 0.1)
        // The name comes from the take's first frame, not from the requested time.
        let begun = try #require(WallTime(iso8601: sidecar.started))
        let names = [begun, begun + .milliseconds(50), begun - .milliseconds(50)].map {
            TakeName(kit: sidecar.kit, number: sidecar.number, started: $0).stem
        }
        #expect(names.contains(sidecar.take))
    }

    @Test func `a take cannot begin with what is not sampled yet, nor beside another one`() throws {
        let rig = try Rig()
        rig.run(.seconds(1))
        var refusals: [Refusal] = []
        func record(_ time: PastTime) {
            rig.deck.perform(.recordFrom(time)) { result in
                if case .failure(let refusal) = result { refusals.append(refusal) }
            }
        }
        record(.raw(nanoseconds: (rig.clock.now() + .seconds(2)).nanoseconds))
        #expect(refusals == [Refusal(.busy, "record: that is 2.0 s ahead of the last frame: try once it is sampled")])
        rig.press(.record)
        rig.run(.seconds(1))
        record(.ago(.zero))
        #expect(refusals.last?.message.hasSuffix("is being recorded: stop it first") == true)
    }
}

extension Instant {
    fileprivate var seconds: Double { Double(nanoseconds) / 1e9 }
}
