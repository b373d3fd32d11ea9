/// Somewhere that bytes from others come in.
protocol Surface {
    /// What the command line calls it.
    static var name: String { get }

    /// - Parameter scratch: a folder in RAM that is its own.
    init(scratch: String) throws

    /// What its inputs are made of.
    var mutator: Mutator { get }

    /// Takes an input in, and holds what comes of it against what is promised.
    mutating func take(_ input: [UInt8]) throws
}

/// A promise that an input broke.
struct Broken: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Notes that a promise is broken unless it holds.
func hold(_ holds: Bool, _ promise: @autoclosure () -> String) throws(Broken) {
    if !holds { throw Broken(promise()) }
}

extension String {
    /// Whether it may be one line of a log or a terminal: nothing in it steers either.
    var isOneLine: Bool {
        unicodeScalars.allSatisfy {
            switch $0.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
