import Exports
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Library
import NIOCore
import NIOPosix
import Spectra
import Takes
import Transport

/// Spectrograms of takes.
struct SpectrumRoutes: Sendable {
    let library: LibraryDesk
    let pictures: TakePictures
    /// Threads that may wait for the disk.
    let disk: NIOThreadPool
    /// One thread, so that one picture at a time is made from sound.
    let drawing: NIOThreadPool

    /// Eight of the longest answers, or 128 usual ones.
    private let room = AnswerRoom(16 << 20)

    private static let usualColumns: Int64 = 512

    var routes: [Route] {
        [
            Route(
                .get, "/api/takes/{take}/spectrum", for: .look, query: ["from", "to", "columns", "channel", "size"]
            ) { _, context in
                let (stem, items, channel) = (context.parameter("take"), context.query, context.channel)
                let found = try await disk.runIfActive {
                    try ExportRoutes.refused { try find(stem, items, for: channel) }
                }
                switch found {
                case .picture(let picture, let share): return Self.answer(picture, share)
                case .computing(let share): return Response(json: Computing(computed: share), status: .accepted)
                case .sound(let order):
                    let picture = try await drawing.runIfActive {
                        try ExportRoutes.refused { try draw(order, for: channel) }
                    }
                    return Self.answer(picture, order.share)
                }
            }
        ]
    }

    private struct Computing: Encodable {
        /// 0 to 1.
        var computed: Double
    }

    private enum Found: Sendable {
        case picture(TakePicture, AnswerRoom.Share)
        /// The file of columns is not there yet. This share of the take's sound is computed.
        case computing(share: Double)
        case sound(Order)
    }

    /// A picture to be made from the sound.
    private struct Order: Sendable {
        var query: PictureQuery
        var share: AnswerRoom.Share
        var sidecar: Sidecar
        /// The folder of the take's day.
        var folder: String
        /// The fingerprints of its parts, or nil if they are not known.
        var sounds: [String]?
    }

    private func find(_ stem: String, _ items: QueryItems, for channel: any Channel) throws -> Found {
        let take = try library.takeHere(stem, for: "spectrum")
        let sidecar = try take.recordedSidecar()
        let query = try PictureQuery(
            of: sidecar, range: try ExportRoutes.range(items),
            columns: Int(try items.count("columns") ?? Self.usualColumns),
            channel: Int(try items.count("channel") ?? 0), window: try items.count("size").map { Int($0) })
        let columns = try library.columns(of: sidecar)
        if case .coarse = query.detail {
            if query.isCovered(by: columns.readers, of: sidecar) {
                let share = try share(for: query)
                let picture = try query.picture(of: sidecar, by: columns.readers) { try channel.checkBrowser() }
                return .picture(picture, share)
            }
            if let obstacle = columns.obstacle, !query.isShort { throw Self.problem(obstacle, of: stem) }
            library.waitForColumns(of: sidecar)
            if !query.isShort { return .computing(share: columns.computed) }
        }
        let share = try share(for: query)
        if let sounds = columns.sounds, let kept = pictures.kept(query, of: sounds) { return .picture(kept, share) }
        return .sound(
            Order(query: query, share: share, sidecar: sidecar, folder: take.folder, sounds: columns.sounds))
    }

    private func share(for query: PictureQuery) throws -> AnswerRoom.Share {
        guard let share = room.take(query.byteCount) else {
            throw Problem(.picturesInTransit)
        }
        return share
    }

    private func draw(_ order: Order, for channel: any Channel) throws -> TakePicture {
        // It may have waited for others.
        try channel.checkBrowser()
        // Another browser may have asked for the same.
        if let sounds = order.sounds, let kept = pictures.kept(order.query, of: sounds) { return kept }
        let sound = try TakeSound(of: order.sidecar, in: order.folder)
        return try pictures.make(order.query, of: sound, order.sounds) { try channel.checkBrowser() }
    }

    private static func problem(_ obstacle: TakeColumns.Obstacle, of take: String) -> Problem {
        switch obstacle {
        case .damage(let sentence): Problem(.pictureDamaged(take: take, sentence: sentence))
        case .failure(let sentence): Problem(.pictureFailed(take: take, sentence: sentence))
        case .noRoom: Problem(.pictureWithoutRoom(take: take))
        }
    }

    private static func answer(_ picture: TakePicture, _ share: AnswerRoom.Share) -> Response {
        let bytes = ByteBuffer(bytes: picture.bytes)
        return Response(
            status: .ok, headers: [.contentType: "application/octet-stream", .cacheControl: "private, no-cache"],
            body: ResponseBody(contentLength: bytes.readableBytes) { writer in
                try await writer.write(bytes)
                try await writer.finish(nil)
                // The network has the bytes.
                withExtendedLifetime(share) {}
            })
    }
}

extension LibraryDesk {
    /// A take whose files are there.
    /// - Parameter name: of the request, with which a refusal begins.
    func takeHere(_ stem: String, for name: String) throws -> CatalogedTake {
        let take = try take(stem, for: name)
        guard take.place == .here else {
            throw Problem(.storageOut(subject: "\(name): \(stem)"))
        }
        return take
    }
}
