import HTTPTypes
import Hummingbird
import NIOPosix
import Transport

/// Updates of a kit's image, sent by a browser.
struct UpdateRoutes: Sendable {
    let desk: UpdateDesk
    let pool: NIOThreadPool

    var routes: [Route] {
        [
            Route(.get, "/api/update", for: .all) { _, _ in
                Response(json: try await pool.runIfActive { desk.reply() })
            },
            Route(.put, "/api/update/{file}", for: .all, takes: .file) { request, context in
                let name = context.parameter("file")
                let byteCount = request.headers[.contentLength].flatMap { Int64($0) }
                let reply = try await desk.one {
                    var upload = try await pool.runIfActive { try desk.begin(name, byteCount: byteCount) }
                    do {
                        for try await part in request.body {
                            upload = try await pool.runIfActive { [upload] in
                                var upload = upload
                                try upload.append(Array(part.readableBytesView))
                                return upload
                            }
                        }
                        context.arrival.complete()
                        return try await pool.runIfActive { [upload] in
                            try upload.finish()
                            return desk.reply()
                        }
                    } catch {
                        // A task of its own: that of a browser that is gone is cancelled.
                        await Task { [upload] in try? await pool.runIfActive { upload.giveUp() } }.value
                        throw error
                    }
                }
                return Response(json: reply, status: .accepted)
            },
        ]
    }
}
