import Control
import HTTPTypes
import Hummingbird
import NIOPosix
import Transport

struct SettingsRoutes: Sendable {
    let desk: SettingsDesk
    let news: PhoneNews
    let pool: NIOThreadPool

    var routes: [Route] {
        [
            Route(.get, "/api/settings", for: .all) { _, _ in
                Response(json: try await pool.runIfActive { try desk.form() })
            },
            Route(.patch, "/api/settings", for: .all, takes: .json(["fingerprint", "changes"])) { _, context in
                guard let fingerprint = context.members["fingerprint"]?.text,
                    case .object(let changes)? = context.members["changes"], !changes.isEmpty
                else {
                    throw Problem(
                        .badRequest, .usage,
                        "settings: send the fingerprint of the file, and changes: an object of keys such as capture.rate_hz"
                    )
                }
                try await pool.runIfActive { try desk.change(changes, of: fingerprint) }
                await news.report(PhoneEvent(.settings, by: context.phone?.name, keys: changes.keys.sorted()))
                return Response(status: .accepted)
            },
        ]
    }
}
