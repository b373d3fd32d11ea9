import Filters
import Takes
import Testing
import Transport

@testable import Deck

@Suite struct SignalWatchTests {
    private let start = Instant(nanoseconds: 0)

    /// What a channel sounds like.
    private enum Sound { case loud, silent, clipped }

    private func levels(_ sounds: [Sound]) -> [ChannelLevels] {
        sounds.map { sound in
            var levels = ChannelLevels()
            levels.peak = sound == .silent ? 0 : sound == .clipped ? 1 : 0.25
            levels.clippedFrames = sound == .clipped ? 3 : 0
            return levels
        }
    }

    /// The fault after each of `sounds`, heard 2 s apart.
    private func faults(_ sounds: [[Sound]]) -> [String] {
        var watch = SignalWatch(channels: sounds[0].count)
        return sounds.enumerated().map { step, sound in
            let now = start + .seconds(2 * step)
            watch.hear(levels(sound), now: now)
            return watch.fault(now: now, card: "card:Mic")?.message ?? "-"
        }
    }

    @Test func `clipping is told for 5 s, with its channel`() {
        let clipped = "signal: card:Mic: clipped on channel 2: turn the gain down"
        #expect(
            faults([[.loud, .loud], [.loud, .clipped], [.loud, .loud], [.loud, .loud], [.loud, .loud]])
                == ["-", clipped, clipped, clipped, "-"])
    }

    @Test func `a card that says nothing for 10 s is told, and no more once it does`() {
        let dead = "signal: card:Mic: nothing heard on channel 1, 2 for 10 s: check the microphone and its cable"
        let silent = [Sound.silent, .silent]
        #expect(
            faults([silent, silent, silent, silent, silent, silent, [.loud, .silent]])
                == ["-", "-", "-", "-", "-", dead, "-"])
    }

    @Test func `an input that nothing was ever plugged into is not told while another is heard`() {
        #expect(faults(Array(repeating: [.loud, .silent], count: 10)) == Array(repeating: "-", count: 10))
    }

    @Test func `an input that died is told while another is heard`() {
        let dead = "signal: card:Mic: nothing heard on channel 2 for 10 s: check the microphone and its cable"
        let sounds = [[Sound.loud, .loud]] + Array(repeating: [.loud, .silent], count: 6)
        #expect(faults(sounds) == ["-", "-", "-", "-", "-", "-", dead])
    }
}

@Suite struct FaultBoardTests {
    private let now = Instant(nanoseconds: 0)

    @Test func `the lowest code comes first, and what is said anew is news`() {
        var board = FaultBoard()
        board.standing = [Fault(.settings, "settings")]
        let isNews = board.raise(Fault(.signal, "signal"))
        let isNewsAgain = board.raise(Fault(.signal, "signal"))
        let isOther = board.raise(Fault(.signal, "other"))
        board.raise(Fault(.noCard, "card"))
        #expect([isNews, isNewsAgain, isOther] == [true, false, true])
        #expect(board.list.map(\.code) == [.noCard, .settings, .signal])
        board.clear(.noCard)
        board.clear(.settings)
        #expect(board.list.map(\.code) == [.settings, .signal])
    }

    @Test func `a fault that passes by itself is not cleared before its time`() {
        var board = FaultBoard()
        board.raise(Fault(.diskFull, "full"), until: now + .seconds(60))
        board.clear(.diskFull)
        #expect(board.list.map(\.code) == [.diskFull])
        #expect(board.nextExpiry == now + .seconds(60))
        board.expire(at: now + .seconds(60))
        #expect(board.list == [])
    }
}
