import CLinux
import Glibc
import NIOCore
import NIOHTTP1
import TakeFiles

/// Sends stretches of a file as the body of an answer: the kernel copies them from its cache to the network (sendfile(2)), not this
/// program. Threads of the network wait for no storage: a stretch is read into the cache before it is sent.
///
/// SwiftNIO has this for `HTTPServerResponsePart` alone, below what Hummingbird writes.
final class FileSending: Sendable {
    private let descriptor: Int32
    private let handle: NIOFileHandle
    private let name: String

    /// Small enough that little is lost where a browser goes away, and great enough that the network rests for nobody.
    static let stretchByteCount: Int64 = 1 << 22

    /// - Parameter file: it may be closed meanwhile.
    /// - Throws: `FileError`.
    init(_ file: OpenFile) throws(FileError) {
        descriptor = try file.duplicate()
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        name = file.path
    }

    deinit { try? handle.close() }

    /// Has a stretch in the kernel's cache. It may wait for the storage.
    /// - Throws: `IOError`; `ChannelError` for a file that was cut meanwhile. The connection is to be closed then, so that the browser knows.
    func fetch(_ stretch: Range<Int64>) throws {
        if fieldfare_is_cached(descriptor, UInt64(stretch.lowerBound), UInt64(stretch.count)) == 0 { try read(stretch) }
        guard isThere(to: stretch.upperBound) else { throw ChannelError.eof }
    }

    private func read(_ stretch: Range<Int64>) throws {
        let page = Int64(getpagesize())
        let start = stretch.lowerBound / page * page
        let count = Int(stretch.upperBound - start)
        // Safe: the place is given back before the call returns, and nobody reads it: what fails is reported, and no signal.
        let place = unsafe mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, off_t(start))
        guard let place = unsafe place, unsafe place != MAP_FAILED else {
            throw IOError(errnoCode: errno, reason: "mmap")
        }
        defer { unsafe munmap(place, count) }
        // A kernel before 5.14 has no such advice: then the network's thread waits for the storage.
        guard unsafe madvise(place, count, Self.populateRead) == 0 || errno == EINVAL else {
            throw IOError(errnoCode: errno, reason: "read \(name)")
        }
    }

    /// Closes the connection if the file is cut while a stretch is on its way: the kernel would send nothing, again and again.
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

    /// Sends a stretch, after all that was written before.
    /// - Returns: when the kernel has all of it.
    func send(_ stretch: Range<Int64>, on channel: any Channel) -> EventLoopFuture<Void> {
        let region = FileRegion(
            fileHandle: handle, readerIndex: Int(stretch.lowerBound), endIndex: Int(stretch.upperBound))
        return channel.triggerUserOutboundEvent(Order(region: region))
    }

    /// What goes down the pipeline to the handler.
    private struct Order: Sendable {
        let region: FileRegion
    }

    /// Writes the stretches that are ordered. It stands where a body may be one.
    final class Handler: ChannelOutboundHandler, RemovableChannelHandler {
        typealias OutboundIn = HTTPServerResponsePart
        typealias OutboundOut = HTTPServerResponsePart

        func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
            guard let order = event as? Order else { return context.triggerUserOutboundEvent(event, promise: promise) }
            context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(order.region))), promise: promise)
        }
    }
}
