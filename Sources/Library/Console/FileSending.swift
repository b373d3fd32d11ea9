import CLinux
import Files
import Glibc
import NIOCore
import NIOHTTP1

/// Sends ranges of a file as the body of an answer. The kernel copies them from its cache to the network (sendfile(2)).
/// Each range is read into the cache first, so that network threads do not wait for the disk.
///
/// SwiftNIO supports this only for `HTTPServerResponsePart`, below the level that Hummingbird writes.
final class FileSending: Sendable {
    private let descriptor: Int32
    private let handle: NIOFileHandle
    private let name: String

    /// Small enough that little is wasted when a browser goes away, and large enough that the network is never idle.
    static let stretchByteCount: Int64 = 1 << 22

    /// - Parameter file: may be closed by its owner meanwhile.
    /// - Throws: `FileError`.
    init(_ file: OpenFile) throws(FileError) {
        descriptor = try file.duplicate()
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        name = file.path
    }

    deinit { try? handle.close() }

    /// Loads a range into the kernel's cache. It may wait for the disk.
    /// - Throws: `IOError`; `ChannelError` if the file was truncated meanwhile. The caller must then close the
    ///   connection, so that the browser detects the failure.
    func fetch(_ stretch: Range<Int64>) throws {
        if fieldfare_is_cached(descriptor, UInt64(stretch.lowerBound), UInt64(stretch.count)) == 0 { try read(stretch) }
        guard isThere(to: stretch.upperBound) else { throw ChannelError.eof }
    }

    private func read(_ stretch: Range<Int64>) throws {
        let page = Int64(getpagesize())
        let start = stretch.lowerBound / page * page
        let count = Int(stretch.upperBound - start)
        // Safe: the mapping is removed before the call returns, and nobody reads it. A failure is an error code, not a
        // signal.
        let place = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, off_t(start))
        guard let place = unsafe place, unsafe place != MAP_FAILED else {
            throw IOError(errnoCode: errno, reason: "mmap")
        }
        defer { unsafe munmap(place, count) }
        // A kernel before 5.14 does not know this advice. The network thread then waits for the disk.
        guard unsafe madvise(place, count, Self.populateRead) == 0 || errno == EINVAL else {
            throw IOError(errnoCode: errno, reason: "read \(name)")
        }
    }

    /// Closes the connection if the file is truncated while a range is being sent. The kernel would otherwise send
    /// nothing, again and again.
    func watch(to end: Int64, on channel: any Channel) -> RepeatedTask {
        channel.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { [self] task in
            guard !isThere(to: end) else { return }
            channel.close(promise: nil)
            task.cancel()
        }
    }

    private func isThere(to end: Int64) -> Bool { Int64(lseek(descriptor, 0, SEEK_END)) >= end }

    /// `MADV_POPULATE_READ` of madvise(2).
    private static let populateRead: Int32 = 22

    /// Sends a range after all earlier writes.
    /// - Returns: completes when the kernel has the whole range.
    func send(_ stretch: Range<Int64>, on channel: any Channel) -> EventLoopFuture<Void> {
        let region = FileRegion(
            fileHandle: handle, readerIndex: Int(stretch.lowerBound), endIndex: Int(stretch.upperBound))
        return channel.triggerUserOutboundEvent(Order(region: region))
    }

    /// The event that travels down the pipeline to the handler.
    private struct Order: Sendable {
        let region: FileRegion
    }

    /// Writes the ordered ranges. Its place in the pipeline is where a body may be a file region.
    final class Handler: ChannelOutboundHandler, RemovableChannelHandler {
        typealias OutboundIn = HTTPServerResponsePart
        typealias OutboundOut = HTTPServerResponsePart

        func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
            guard let order = event as? Order else { return context.triggerUserOutboundEvent(event, promise: promise) }
            context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(order.region))), promise: promise)
        }
    }
}
