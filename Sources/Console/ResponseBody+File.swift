import HummingbirdCore
import NIOCore
import NIOPosix
import TakeFiles

extension ResponseBody {
    /// A stretch of a file, which is closed once it is sent.
    /// - Parameters:
    ///   - channel: the connection that it is for.
    ///   - pool: whose threads wait for the storage.
    ///   - mayGoOn: once it is false, the connection is closed.
    static func file(
        _ file: OpenFile, _ range: Range<Int64>, on channel: any Channel, by pool: NIOThreadPool,
        while mayGoOn: @escaping @Sendable () -> Bool
    ) -> ResponseBody {
        ResponseBody(contentLength: Int(range.count)) { writer in
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
                        guard mayGoOn() else { throw CancellationError() }
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
            try await writer.finish(nil)
        }
    }
}
