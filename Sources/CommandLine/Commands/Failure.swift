public import Control

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
}
