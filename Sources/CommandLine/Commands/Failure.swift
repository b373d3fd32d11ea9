public import Control

/// Why a command did not do what it was asked: one sentence for a person, a number for a script.
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process's exit status, after `sysexits.h`.
    public var exitStatus: Int32
    /// One sentence.
    public var description: String

    /// A failure with its exit status.
    public init(exitStatus: Int32, _ description: String) {
        self.exitStatus = exitStatus
        self.description = description
    }

    /// What the control socket said.
    public init(_ error: ControlError) {
        self.init(exitStatus: error.exitStatus, error.description)
    }
}
