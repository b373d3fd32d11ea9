import HTTPTypes
import Hummingbird
import NIOPosix
import TakeFiles
import Transport

/// What somebody far away needs to understand the kit, as one file.
struct SupportRoutes: Sendable {
    private let desk: SupportDesk
    /// It makes one file after the other.
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
