import Control
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Transport

/// Why a request was refused, as a problem object for the browser (RFC 9457).
struct Problem: Error, HTTPResponseError, CustomStringConvertible {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    private var code: Refusal.Code
    private var detail: String

    /// - Parameters:
    ///   - code: the kind of reason, as on the control socket.
    ///   - detail: one sentence.
    init(_ status: HTTPResponse.Status, _ code: Refusal.Code, _ detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    /// A refusal of the library or the recorder.
    init(_ refusal: Refusal) {
        self.init(refusal.code.httpStatus, refusal.code, refusal.message)
    }

    /// A failed request to the recorder, or its refusal.
    init(_ error: ControlError) {
        switch error.cause {
        case .refused(let refusal): self.init(refusal)
        case .notRunning, .closed, .silent: self.init(.serviceUnavailable, .busy, error.description)
        case .denied: self.init(.internalServerError, .denied, error.description)
        default: self.init(.internalServerError, .io, error.description)
        }
    }

    private struct Document: Encodable {
        var type = "about:blank"
        var title: String
        var status: Int
        var detail: String
        var code: Refusal.Code
    }

    var description: String { detail }

    func response() -> Response {
        let document = Document(title: status.reasonPhrase, status: status.code, detail: detail, code: code)
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
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            self.init(jsonBytes: try encoder.encode(object), status: status)
        } catch {
            let problem = Problem(.internalServerError, .internal, "console: the answer cannot be written: \(error)")
            self = problem.response()
        }
    }

    init(jsonBytes: some Sequence<UInt8>, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: jsonBytes)))
    }

    /// Success without content.
    static var nothing: Response { Response(status: .noContent) }
}
