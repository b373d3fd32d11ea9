public import Control
import Transport

/// Why a command failed: one sentence for a person, and a number for a script.
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process's exit status, as in `sysexits.h`.
    public var exitStatus: Int32
    public var description: String

    public init(exitStatus: Int32, _ description: String) {
        self.exitStatus = exitStatus
        self.description = description
    }

    public init(_ error: ControlError) {
        self.init(exitStatus: error.exitStatus, error.description)
    }

    /// The failure as JSON, in the form of a refusal at a control socket: `{"error":{"code":"busy","message":"…"}}`.
    var json: JSONValue {
        .object(["error": .object(["code": .string(code), "message": .string(description)])])
    }

    /// The kind of the failure: a code of the control socket, or a word for an exit status that has none there.
    private var code: String {
        if let code = Refusal.Code.allCases.first(where: { $0.exitStatus == exitStatus }) { return code.rawValue }
        return switch exitStatus {
        case 1: "other-state"
        case 69: "not-running"
        case 73: "cannot-create"
        case 78: "bad-settings"
        default: Refusal.Code.internal.rawValue
        }
    }
}
