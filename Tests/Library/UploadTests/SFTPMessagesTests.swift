import SeededRandom
import Testing

@testable import Upload

struct SFTPMessagesTests {
    private static let samples: [[UInt8]] = [
        packet(
            [2, 0, 0, 0, 3], text("posix-rename@openssh.com"), text("1"), text("statvfs@openssh.com"), text("2"),
            text("fsync@openssh.com"), text("9"), text("x"), text("")),
        packet([101, 0, 0, 0, 7, 0, 0, 0, 2], text("No such file"), text("")),
        packet([102, 0, 0, 0, 7], text("\u{0}\u{1}")),
        packet([103, 0, 0, 0, 7], text("data")),
        packet(
            [104, 0, 0, 0, 7, 0, 0, 0, 2], text("a.wav"), text("-rw"), [0, 0, 0, 13],
            [0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0x81, 0xa4], [0, 0, 0, 1, 0, 0, 0, 2],
            text("b"), text(""), [0x80, 0, 0, 0, 0, 0, 0, 1], text("k"), text("v")),
        [105, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 1],
        packet([201, 0, 0, 0, 7], bytes(4096, 4096, 100, 60, 50, 10, 5, 4, 0, 1, 255)),
    ]

    private static func packet(_ pieces: [UInt8]...) -> [UInt8] { pieces.flatMap(\.self) }
    private static func text(_ text: String) -> [UInt8] { [0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8) }
    private static func bytes(_ numbers: UInt64...) -> [UInt8] {
        numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
    }

    @Test("answers are read")
    func answers() throws {
        let replies: [SFTPReply] = [
            .version(3, [.replace, .space]), .status(SFTPStatus.missing), .handle(SFTPHandle(bytes: [0, 1])),
            .data(Array("data".utf8)),
            .names([
                SFTPEntry(name: "a.wav", attributes: SFTPAttributes(byteCount: 256, mode: 0o100644)),
                SFTPEntry(name: "b", attributes: SFTPAttributes()),
            ]),
            .attributes(SFTPAttributes(byteCount: 5)),
            .space(SFTPSpace(freeBytes: 204_800, hasFreeFiles: true, isReadOnly: true)),
        ]
        for (sample, reply) in zip(Self.samples, replies) {
            let read = try SFTPReply.read(sample)
            #expect(read.reply == reply && read.id == (sample[0] == 2 ? nil : 7))
        }
    }

    @Test("an answer that is cut or changed anywhere is read within its bounds, or refused")
    func mutations() {
        var random = SeededRandom(seed: 3)
        var refused = 0
        for _ in 0..<20_000 {
            var packet = Self.samples.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                packet[packet.indices.randomElement(using: &random) ?? 0] =
                    [0, 1, 127, 128, 255].randomElement(using: &random) ?? 0
            }
            if Bool.random(using: &random) { packet.removeLast(Int.random(in: 0..<packet.count, using: &random)) }
            do {
                let read = try SFTPReply.read(packet).reply
                if case .names(let names) = read { #expect(names.count <= packet.count / 12) }
            } catch {
                refused += 1
            }
        }
        #expect(refused > 1000)
    }

    @Test("packets are found in pieces of any size, and what is no packet is refused")
    func packets() throws {
        let stream: [UInt8] = Self.samples.flatMap { [0, 0, 0, UInt8($0.count)] + $0 }
        for size in [1, 2, 3, 7, stream.count] {
            var packets = SFTPPackets()
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                packets.add(stream[start..<min(start + size, stream.count)])
                while let packet = try packets.next() { found.append(packet) }
            }
            #expect(found == Self.samples)
        }
        for (bytes, sentence) in [
            ([0, 0, 0, 0], "a packet of 0 bytes"), ([0, 4, 0, 1], "a packet of 262145 bytes"),
            (Array("Last login: Sat\r\n".utf8), "the text \"Last login: Sat\""),
        ] as [([UInt8], String)] {
            var packets = SFTPPackets()
            packets.add(bytes)
            #expect { try packets.next() } throws: { ($0 as? SFTPGarbled)?.found == sentence }
        }
        var longest = SFTPPackets()
        longest.add([0, 4, 0, 0])
        #expect(try longest.next() == nil)
    }

    @Test("requests have the form of the protocol")
    func requests() {
        let handle = SFTPHandle(bytes: [9])
        let packets: [(SFTPRequest, [UInt8])] = [
            (
                .open("a", [.read, .write, .create]),
                [0, 0, 0, 18, 3, 0, 0, 0, 5, 0, 0, 0, 1, 97, 0, 0, 0, 11, 0, 0, 0, 0]
            ),
            (
                .read(handle, at: 258, count: 3),
                [0, 0, 0, 22, 5, 0, 0, 0, 5, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 3]
            ),
            (
                .write(handle, at: 1, [7, 8]),
                [0, 0, 0, 24, 6, 0, 0, 0, 5, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 7, 8]
            ),
            (.rename("a", "b"), [0, 0, 0, 15, 18, 0, 0, 0, 5, 0, 0, 0, 1, 97, 0, 0, 0, 1, 98]),
            (.sync(handle), [0, 0, 0, 31, 200, 0, 0, 0, 5] + Self.text("fsync@openssh.com") + [0, 0, 0, 1, 9]),
        ]
        for (request, packet) in packets { #expect(request.packet(id: 5) == packet) }
    }
}
