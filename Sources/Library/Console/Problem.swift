import Control
import HTTPTypes
import Hummingbird
import NIOCore
import Transport

/// Why a request was refused, as a problem object for the browser (RFC 9457).
struct Problem: Error, HTTPResponseError, CustomStringConvertible {
    typealias Reason = Refusal.Reason

    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    private var refusal: Refusal

    /// - Parameters:
    ///   - code: the kind of reason, as on the control socket.
    ///   - detail: one sentence.
    ///   - reason: the same for a page in another language, or nil if a person does not meet this problem on the page.
    init(_ status: HTTPResponse.Status, _ code: Refusal.Code, _ detail: String, _ reason: Reason? = nil) {
        self.status = status
        refusal = Refusal(code, detail, reason)
    }

    /// A refusal of the library or the recorder.
    init(_ refusal: Refusal) {
        status = refusal.code.httpStatus
        self.refusal = refusal
    }

    /// A failed request to the recorder, or its refusal.
    init(_ error: ControlError) {
        switch error.cause {
        case .refused(let refusal): self.init(refusal)
        case .notRunning, .closed, .silent: self.init(.recorderAway(message: error.description))
        case .denied: self.init(.recorderFailed(.denied, message: error.description))
        default: self.init(.recorderFailed(.io, message: error.description))
        }
    }

    struct Document: Encodable {
        var type = "about:blank"
        var title: String
        var status: Int
        var detail: String
        var code: Refusal.Code
        var reason: String?
        var values: [String: Reason.Value]?
    }

    var description: String { refusal.message }

    var document: Document {
        Document(
            title: status.reasonPhrase, status: status.code, detail: refusal.message, code: refusal.code,
            reason: refusal.reason?.name, values: refusal.reason?.values)
    }

    func response() -> Response {
        var response = Response(json: document, status: status)
        response.headers[.contentType] = "application/problem+json"
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    func response(from request: Request, context: some RequestContext) throws -> Response { response() }
}

extension HTTPResponse.Status {
    /// RFC 4918.
    static let insufficientStorage = Self(code: 507, reasonPhrase: "Insufficient Storage")
}

extension Refusal.Code {
    fileprivate var httpStatus: HTTPResponse.Status {
        switch self {
        case .usage: .badRequest
        case .badData: .unprocessableContent
        case .notFound: .notFound
        case .busy: .conflict
        case .denied: .forbidden
        case .io, .internal: .internalServerError
        }
    }
}

extension Response {
    init(json object: some Encodable, status: HTTPResponse.Status = .ok) {
        guard let text = jsonText(object) else {
            self = Problem(.internalServerError, .internal, "console: the answer cannot be written").response()
            return
        }
        self.init(jsonText: text, status: status)
    }

    /// - Parameter text: a JSON object.
    init(jsonText text: String, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Success without content.
    static var nothing: Response { Response(status: .noContent) }
}
