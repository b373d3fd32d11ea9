import Exports
import HummingbirdCore
import NIOCore
import NIOPosix
import TakeFiles

extension ResponseBody {
    /// What is read of a file at once, where it is not the kernel that sends it. Many browsers may read nothing of what they asked for.
    private static let pieceByteCount: Int64 = 32 << 10

    /// A stretch of a file, which is closed once it is sent.
    /// - Parameters:
    ///   - context: of the request. Once it may not go on, the connection is closed.
    ///   - pool: whose threads wait for the storage.
    static func file(
        _ file: OpenFile, _ range: Range<Int64>, edit: HeadEdit? = nil, for context: ConsoleContext,
        by pool: NIOThreadPool
    ) -> ResponseBody {
        ResponseBody(contentLength: Int(range.count)) { writer in
            if context.isSecure || edit != nil {
                // The kernel knows no key of TLS, and sends what is in the file.
                try await read(file, range, edit, for: context, by: pool) { try await writer.write($0) }
            } else {
                try await send(file, range, for: context, by: pool)
            }
            try await writer.finish(nil)
        }
    }

    /// Has the kernel send a stretch of a file.
    private static func send(
        _ file: OpenFile, _ range: Range<Int64>, for context: ConsoleContext, by pool: NIOThreadPool
    ) async throws {
        let channel = context.channel
        let sending = try FileSending(file)
        let watch = sending.watch(to: range.upperBound, on: channel)
        defer { watch.cancel() }
        try await withTaskCancellationHandler {
            // What is on its way holds the file open.
            var sent: [EventLoopFuture<Void>] = []
            do {
                var position = range.lowerBound
                while position < range.upperBound {
                    let stretch = position..<min(range.upperBound, position + FileSending.stretchByteCount)
                    guard context.mayGoOn() else { throw CancellationError() }
                    // While the one before is sent.
                    try await pool.runIfActive { try sending.fetch(stretch) }
                    sent.append(sending.send(stretch, on: channel))
                    if sent.count > 1 { try await sent.removeFirst().get() }
                    position = stretch.upperBound
                }
                try await sent.last?.get()
            } catch {
                channel.close(promise: nil)
                for stretch in sent { try? await stretch.get() }
                throw error
            }
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    /// Reads a stretch of a file, piece by piece.
    private static func read(
        _ file: OpenFile, _ range: Range<Int64>, _ edit: HeadEdit?, for context: ConsoleContext, by pool: NIOThreadPool,
        _ write: (ByteBuffer) async throws -> Void
    ) async throws {
        do {
            var position = range.lowerBound
            while position < range.upperBound {
                let stretch = position..<min(range.upperBound, position + pieceByteCount)
                guard context.mayGoOn() else { throw CancellationError() }
                let piece = try await pool.runIfActive {
                    var piece = try FileSystem().read(file, at: stretch.lowerBound, count: stretch.count)
                    edit?.apply(to: &piece, at: stretch.lowerBound)
                    return piece
                }
                // It was cut meanwhile.
                guard piece.count == stretch.count else { throw ChannelError.eof }
                try await write(ByteBuffer(bytes: piece))
                position = stretch.upperBound
            }
        } catch {
            // The browser learns that something is missing.
            context.channel.close(promise: nil)
            throw error
        }
    }
}
