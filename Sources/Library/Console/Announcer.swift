import Control
import Files
import FoundationEssentials
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Takes
import Transport
import Upload

/// Keeps a file with the recorder's state. A unit of the system announces the kit from it by mDNS.
struct Announcer: ServiceLifecycle.Service {
    /// The recorder's socket.
    let path: String
    let kit: String
    /// The state file, in a folder that belongs to the library.
    let file: String
    let log: Logger

    /// The pause before it connects again.
    private static let pause = Duration.seconds(5)
    /// A line of the recorder is shorter.
    private static let longestLine = 1 << 20

    /// Writes the file at each change until the library shuts down.
    func run() async throws {
        let disk = try DiskReader(name: "announce")
        await cancelWhenGracefulShutdown {
            var shown = ""
            while !Task.isCancelled {
                do {
                    try await follow { state in await show(state, &shown, disk) }
                } catch {
                    // The recorder does not answer.
                }
                guard !Task.isCancelled else { return }
                await show("away", &shown, disk)
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Calls `body` with each state of the recorder, until the connection ends.
    private func follow(_ body: (String) async -> Void) async throws {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(5))
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await connection.executeThenClose { received, sent in
            let request = Request(id: .integer(1), RecorderMessage.watch(levels: false, peaks: false))
            try await sent.write(ByteBuffer(string: request.line + "\n"))
            var rest = ByteBuffer()
            for try await var piece in received {
                rest.writeBuffer(&piece)
                while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
                    let line = rest.readSlice(length: end - rest.readerIndex + 1)
                {
                    let status = try? JSONValue(decoding: line.readableBytesView)
                    if let state = status?["state"]?.text { await body(state) }
                }
                rest.discardReadBytes()
                guard rest.readableBytes < Self.longestLine else { return }
            }
        }
    }

    private func show(_ state: String, _ shown: inout String, _ disk: DiskReader) async {
        guard state != shown else { return }
        shown = state
        do {
            try await disk.perform { files in
                let draft = try files.create(file + ".tmp", isNew: false, mode: 0o640)
                try files.write(Array("\(kit)\n\(state)\n".utf8), to: draft, at: 0)
                try files.move(file + ".tmp", to: file)
            }
        } catch {
            let reason = (error as? FileError)?.fact ?? "\(error)"
            log.warning("console: \(reason): the network does not learn what the recorder does")
        }
    }
}
