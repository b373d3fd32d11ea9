import Exports
import Files
import HummingbirdCore
import NIOCore
import NIOPosix

extension ResponseBody {
    /// The size of one read if the kernel does not send the file itself. It is small, because many browsers may read
    /// nothing of their answers.
    private static let pieceByteCount: Int64 = 32 << 10

    /// A range of a file, which is closed once it is sent.
    /// - Parameters:
    ///   - context: the request's context. If its right ends, the connection is closed.
    ///   - pool: threads that wait for the disk.
    static func file(
        _ file: OpenFile, _ range: Range<Int64>, edit: HeadEdit? = nil, for context: ConsoleContext,
        by pool: NIOThreadPool
    ) -> ResponseBody {
        ResponseBody(contentLength: Int(range.count)) { writer in
            if context.isSecure || edit != nil {
                // The kernel does not have the TLS key, and can only send the file's own content.
                try await read(file, range, edit, for: context, by: pool) { try await writer.write($0) }
            } else {
                try await send(file, range, for: context, by: pool)
            }
            try await writer.finish(nil)
        }
    }

    /// Lets the kernel send a range of a file.
    private static func send(
        _ file: OpenFile, _ range: Range<Int64>, for context: ConsoleContext, by pool: NIOThreadPool
    ) async throws {
        let channel = context.channel
        let sending = try FileSending(file)
        let watch = sending.watch(to: range.upperBound, on: channel)
        defer { watch.cancel() }
        try await withTaskCancellationHandler {
            // The sends in transit keep the file open.
            var sent: [EventLoopFuture<Void>] = []
            do {
                var position = range.lowerBound
                while position < range.upperBound {
                    let stretch = position..<min(range.upperBound, position + FileSending.stretchByteCount)
                    guard context.mayGoOn() else { throw CancellationError() }
                    // Runs while the previous range is being sent.
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

    /// Reads a range of a file, piece by piece.
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
                // The file was truncated meanwhile.
                guard piece.count == stretch.count else { throw ChannelError.eof }
                try await write(ByteBuffer(bytes: piece))
                position = stretch.upperBound
            }
        } catch {
            // The closed connection shows the browser that the body is incomplete.
            context.channel.close(promise: nil)
            throw error
        }
    }
}
