import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOHTTP1
import Takes
import Transport

/// One method of one path: the required right and the handler.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, ConsoleContext) async throws -> Response

    var method: HTTPRequest.Method
    /// As in OpenAPI: `/api/takes/{take}`.
    var path: String
    /// The minimum right.
    var demand: Right
    var content: Content
    /// The allowed items of the query.
    var query: Query
    var handler: Handler

    /// The allowed body of a request.
    enum Content {
        /// A JSON object with some of these keys, or no body. The context has its members.
        case json([String])
        /// Any bytes, which the handler reads.
        case file

        /// A form of another site cannot send these types without a preflight request.
        var mediaType: String {
            switch self {
            case .json: "application/json"
            case .file: "application/octet-stream"
            }
        }
    }

    /// The allowed query. An unknown item is refused, because a misspelt condition would match everything.
    enum Query: ExpressibleByArrayLiteral {
        /// Anything, because a file of the page ignores its query.
        case any
        /// Items with these names, each at most once.
        case once([String])
        /// Items with this name, any number of times.
        case many(String)

        init(arrayLiteral names: String...) { self = .once(names) }
    }

    init(
        _ method: HTTPRequest.Method, _ path: String, for demand: Right, takes content: Content = .json([]),
        query: Query = [], _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.demand = demand
        self.content = content
        self.query = query
        self.handler = handler
    }

    var mayHaveBody: Bool { method == .post || method == .patch || method == .put }
}

/// Answers every request: identifies the browser, finds the route, and reports unknown addresses.
struct Routes: Sendable {
    private let doorkeeper: Doorkeeper
    private let responder: any HTTPResponder<ConsoleContext>
    private let now: @Sendable () -> WallTime

    private static let nothing = Problem(.notFound, .notFound, "console: there is nothing at this address")
    private static let methods: [HTTPRequest.Method] = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]

    init(_ routes: [Route], _ doorkeeper: Doorkeeper, now: @escaping @Sendable () -> WallTime) {
        self.doorkeeper = doorkeeper
        self.now = now
        let router = Router(context: ConsoleContext.self)
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            let methods = routes.flatMap { $0.method == .get ? [(.get, $0), (.head, $0)] : [($0.method, $0)] }
            let offered = [HTTPRequest.Method: Route](uniqueKeysWithValues: methods)
            let allowed = Self.methods.filter { offered[$0] != nil }.map(\.rawValue).joined(separator: ", ")
            for method in Self.methods {
                router.on(RouterPath(path), method: method) { request, context in
                    guard let route = offered[method] else {
                        var problem = Problem(.methodNotAllowed, .usage, "console: \(path) has only \(allowed)")
                        problem.headers[.allow] = allowed
                        throw problem
                    }
                    return try await Self.carryOut(route, request, context)
                }
            }
        }
        for method in Self.methods {
            router.on("**", method: method) { _, _ -> Response in
                throw Self.nothing
            }
        }
        responder = router.buildResponder()
    }

    /// Returns an answer in every case.
    func respond(to request: Request, _ context: ConsoleContext) async -> Response {
        var response: Response
        let arrival = BodyArrival()
        do {
            try doorkeeper.checkOrigin(request, isSecure: context.isSecure)
            var context = context
            context.arrival = arrival
            (context.right, context.phone) = doorkeeper.visitor(request, now: now())
            if let phone = context.phone { context.mayGoOn = { [doorkeeper] in doorkeeper.phones.has(phone.id) } }
            response = try await responder.respond(to: Self.known(request), context: context)
            if response.status == .notFound, response.headers[.contentType] == nil {
                response = Self.nothing.response()
            }
        } catch let error as HTTPParserError {
            response = Problem(.badRequest, .usage, "console: the request is not HTTP: \(error)").response()
        } catch let problem as Problem {
            response = problem.response()
        } catch let refusal as Refusal {
            response = Problem(refusal).response()
        } catch is CancellationError {
            response = Problem(.ending).response()
        } catch {
            response = Problem(.internalServerError, .internal, "console: \(error)").response()
        }
        // The connection closes, because nobody reads the rest of a refused body.
        if request.hasBody && !arrival.isComplete { response.headers[.connection] = "close" }
        SafeHeaders.add(to: &response, for: request)
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// An unknown method is replaced by one that no path has, so that it is refused.
    private static func known(_ request: Request) -> Request {
        guard !methods.contains(request.method) else { return request }
        var head = request.head
        head.method = .trace
        return Request(head: head, body: request.body)
    }

    private static func carryOut(_ route: Route, _ request: Request, _ context: ConsoleContext) async throws -> Response
    {
        guard context.right >= route.demand else {
            var problem = Problem(.notPaired)
            problem.headers[.wwwAuthenticate] = "Cookie realm=\"fieldfare\""
            throw problem
        }
        guard !route.mayHaveBody || isType(request.headers[.contentType], route.content) else {
            throw Problem(
                .unsupportedMediaType, .usage,
                "console: the request's content type is not \(route.content.mediaType): send that")
        }
        var context = context
        context.query = try QueryItems(request.uri.query, allowed: route.query)
        if route.mayHaveBody, case .json(let keys) = route.content {
            context.members = try await request.members(keys, context)
        }
        return try await route.handler(request, context)
    }

    private static func isType(_ type: String?, _ content: Route.Content) -> Bool {
        (type ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " } == content.mediaType
    }
}

/// The security headers of each answer, which restrict a page to its purpose. What a page consists of, its scripts and
/// style sheets, follows the headers of the page: repeated with each of them, they would be a fourth of the bytes that
/// a phone loads. A worker follows its own headers.
enum SafeHeaders {
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "worker-src 'self'", "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob:", "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'self'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static let fields: [(name: String, value: String)] = [
        ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    private static let pageFields: [(name: String, value: String)] = [
        ("Content-Security-Policy", policy), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"),
        ("Permissions-Policy", "camera=(), geolocation=(self), microphone=(), payment=(), usb=()"),
    ]

    private static func isPartOfPage(_ response: Response, of path: String) -> Bool {
        guard let type = response.headers[.contentType]?.prefix(while: { $0 != ";" }) else { return false }
        return type == "text/css" || type == "text/javascript" && !path.hasSuffix("-worker.js")
    }

    static func add(to response: inout Response, for request: Request) {
        let isPart = isPartOfPage(response, of: request.uri.path)
        for field in isPart ? fields : fields + pageFields {
            response.headers[HTTPField.Name(field.name)!] = field.value
        }
        // Current data of takes and of the kit must not be cached, unless the route allows it.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        response.headers[.date] = HTTPDate.text(SystemClock().wallTime())
    }
}
