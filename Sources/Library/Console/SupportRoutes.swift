import HTTPTypes
import Hummingbird
import NIOPosix
import TakeFiles
import Transport

/// The support file for a person who must examine the kit from far away.
struct SupportRoutes: Sendable {
    private let desk: SupportDesk
    /// Makes one file at a time.
    private let packing: NIOThreadPool
    private let disk: NIOThreadPool

    init(_ desk: SupportDesk, packing: NIOThreadPool, disk: NIOThreadPool) {
        self.desk = desk
        self.packing = packing
        self.disk = disk
    }

    var routes: [Route] {
        [
            Route(.get, "/api/support", for: .all) { _, context in
                let bundle = try await desk.one { try await packing.runIfActive { try desk.pack() } }
                let headers: HTTPFields = [
                    .contentType: "application/gzip", .cacheControl: "no-store",
                    .contentDisposition: "attachment; filename=\"\(bundle.name)\"",
                ]
                return Response(
                    status: .ok, headers: headers,
                    body: .file(bundle.file, 0..<bundle.byteCount, for: context, by: disk))
            }
        ]
    }
}
