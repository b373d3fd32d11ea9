import Foundation
import Glibc
import Takes
import Testing

@testable import Ring
@testable import SoundCard

/// Uses ALSA's own plug-ins as cards. The tests run serially, because they write the same file.
@Suite(.serialized) struct PlaybackCardTests {
    let folder: String
    let stereo = StreamFormat(rateHz: 44100, channels: 2, sampleFormat: .s24Packed)

    init() throws {
        folder = try OwnALSA.folder()
    }

    private func error(opening name: String) -> String {
        do {
            _ = try PlaybackCard().open(PlaybackRequest(card: CardReference(name)!, format: stereo))
            return "it opened"
        } catch {
            return "\(error)"
        }
    }

    // MARK: Opening

    @Test func `a name that ALSA does not know is an error with ALSA's own message`() {
        #expect(error(opening: "pcm:nope") == "play: nope: cannot open: No such file or directory (Unknown PCM nope)")
        #expect(error(opening: "pcm:broken").hasPrefix("play: broken: cannot open: "))
        #expect(error(opening: "pcm:hw:CARD=Nope").hasPrefix("play: hw:CARD=Nope: cannot open: "))
    }

    @Test func `a card that is not there is one sentence`() throws {
        let tree = MadeUpTree()
        try tree.addCard(3, id: "Mic", device: "platform/soc/soc:sound", bus: "platform", pcms: ["0c"])
        func error(_ card: CardReference, companion: CardReference? = nil) -> String {
            do {
                _ = try PlaybackCard(cards: SoundCards(root: tree.root))
                    .open(PlaybackRequest(card: card, companion: companion, format: stereo))
                return "it opened"
            } catch {
                return "\(error)"
            }
        }
        let list = "(there are: card:Mic \"Mic\" (captures only))"
        #expect(error(.cardID("DAC")) == "play: card:DAC: cannot find the card: it is not connected \(list)")
        #expect(error(.cardID("Mic")) == "play: card:Mic: cannot find the card: it is there and does not play \(list)")
        #expect(
            error(.automatic, companion: .cardID("Mic"))
                == "play: auto: cannot find the card: nothing that is connected plays \(list)")
    }

    @Test func `the card that records is opened to play, on the device that records`() throws {
        let tree = MadeUpTree()
        try tree.addCard(0, id: "AA", device: "platform/soc/soc:first", bus: "platform", pcms: ["0p"])
        try tree.addCard(3, id: "Box", device: "platform/soc/soc:sound", bus: "platform", pcms: ["1c", "0p", "1p"])
        let error = #expect(throws: SoundCardError.self) {
            _ = try PlaybackCard(cards: SoundCards(root: tree.root))
                .open(PlaybackRequest(companion: .cardID("Box"), format: stereo))
        }
        #expect(error?.subject == "hw:CARD=Box,DEV=1")
        #expect(error?.direction == .playback)
    }

    @Test func `a plug-in is opened in the take's format, and its grant read back`() throws {
        let card = PlaybackCard()
        for format in SampleFormat.allCases {
            let take = StreamFormat(rateHz: 44100, channels: 3, sampleFormat: format)
            let grant = try card.open(PlaybackRequest(card: .pcm("null"), format: take))
            #expect(grant == PlaybackGrant(card: "pcm:null", name: "null", format: take, bufferFrames: 22050))
        }
    }

    @Test func `a rate that the card does not have is replaced by one that it has`() throws {
        let grant = try PlaybackCard().open(PlaybackRequest(card: .pcm("narrow"), format: stereo))
        #expect(grant.format == StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s24Packed))
    }

    @Test func `a buffer of half a second holds periods of 20 ms`() throws {
        let grant = try PlaybackPCM(opening: "null")
            .configure(StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16))
        #expect(grant.periodFrames == 960)
        #expect(grant.bufferFrames == 24000)
    }

    @Test func `a card that is opened for a latency queues no more than that, in three periods`() throws {
        let format = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
        let short = try PlaybackPCM(opening: "null").configure(format, latency: .milliseconds(45))
        #expect(short.periodFrames == 720)
        #expect(short.bufferFrames == 2160)
        // A longer latency does not make longer periods.
        let long = try PlaybackPCM(opening: "null").configure(format, latency: .milliseconds(200))
        #expect(long.periodFrames == 960)
        #expect(long.bufferFrames == 9600)
        let card = PlaybackCard()
        let request = PlaybackRequest(card: .pcm("null"), format: stereo, latency: .milliseconds(60))
        #expect(try card.open(request).latency == .milliseconds(60))
        let substitute = PlaybackRequest(card: .pcm("narrow"), format: stereo, latency: .milliseconds(60))
        let grant = try card.open(substitute)
        #expect(grant.format.rateHz == 48000)
        #expect(grant.latency > .zero && grant.latency <= .milliseconds(100))
    }

    @Test func `of several candidates the first is settled that the card accepts`() throws {
        func format(_ channels: Int) -> StreamFormat {
            StreamFormat(rateHz: 48000, channels: channels, sampleFormat: .s16)
        }
        let pcm = try PlaybackPCM(opening: "null")
        let standing = StreamFormat(rateHz: 0, channels: 2, sampleFormat: .s16)
        let settled = try pcm.settle([format(0), standing, format(4), format(5)])
        #expect(settled.candidate == format(4))
        #expect(settled.grant.format == format(4))
        #expect(settled.refusal?.description == "play: null: cannot set 0 channels: Invalid argument")
        let error = #expect(throws: SoundCardError.self) { _ = try pcm.settle([format(0), standing]) }
        #expect(error?.description == "play: null: cannot set 0 channels: Invalid argument")
        let none = #expect(throws: SoundCardError.self) { _ = try pcm.settle([]) }
        #expect(none?.description == "play: null: cannot play: it takes none of its formats")
    }

    // MARK: Playing

    @Test(arguments: SampleFormat.allCases)
    func `what is written reaches the card bit by bit`(format: SampleFormat) throws {
        let take = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: format)
        let bytes = (0..<30000 * take.bytesPerFrame).map { UInt8(truncatingIfNeeded: $0 &* 151 >> 3) }
        let card = PlaybackCard()
        let grant = try card.open(PlaybackRequest(card: .pcm("tape"), format: take))
        #expect(grant.format == take)
        var done = 0
        while done < bytes.count {
            let count = try bytes[done...].prefix(7000 * take.bytesPerFrame).withUnsafeBytes { try card.write($0) }
            try #require(count > 0)
            done += count * take.bytesPerFrame
        }
        let queued = try card.queuedFrames()
        #expect(queued >= 0 && queued <= grant.bufferFrames)
        #expect(try card.takeBack(keeping: 0) == 0)
        card.close()
        let tape = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/tape.raw"))
        #expect(tape.elementsEqual(bytes))
        #expect(card.underruns == 0)
    }

    @Test func `a card is dropped, closed and opened as often as one likes`() throws {
        let card = PlaybackCard()
        for _ in 0..<3 {
            _ = try card.open(PlaybackRequest(card: .pcm("null"), format: stereo))
            let bytes = [UInt8](repeating: 0, count: 600)
            #expect(try bytes.withUnsafeBytes { try card.write($0) } == 100)
            card.drop()
            #expect(try card.queuedFrames() == 0)
            #expect(try bytes.withUnsafeBytes { try card.write($0) } == 100)
            card.close()
            card.close()
            card.drop()
        }
    }

    @Test func `a card that is not open plays nothing, with an error`() throws {
        let card = PlaybackCard()
        let sentence = "play: card: cannot play: it is not open"
        let errors = [
            #expect(throws: SoundCardError.self) { _ = try [0].withUnsafeBytes { try card.write($0) } },
            #expect(throws: SoundCardError.self) { _ = try card.queuedFrames() },
            #expect(throws: SoundCardError.self) { _ = try card.takeBack(keeping: 0) },
        ]
        #expect(errors.map { $0?.description } == [sentence, sentence, sentence])
    }
}
