package import Transport

/// One line from a peer: a request, and the id for its reply.
public struct Request<Message: PeerMessage>: Hashable, Sendable {
    /// Any scalar. The reply repeats it.
    public var id: JSONValue
    public var message: Message

    public init(id: JSONValue = .null, _ message: Message) {
        self.id = id
        self.message = message
    }
}

/// A line that is not a request, with its id for the reply if one could be read.
package struct RequestError: Error, Hashable {
    package var id: JSONValue
    package var refusal: Refusal
}

extension Request {
    /// Reads a line. Unknown keys are ignored.
    ///
    /// - Throws: code bad-data if the line is not a JSON object, or usage if the command is unknown or its keys are
    ///   wrong.
    package static func read(_ line: ArraySlice<UInt8>) throws(RequestError) -> Request {
        guard values(in: line) <= mostValues else {
            let message = "control: the line holds more than \(mostValues) values"
            throw RequestError(id: .null, refusal: Refusal(.badData, message))
        }
        let value: JSONValue
        do {
            value = try JSONValue(decoding: line)
        } catch {
            let message =
                "control: the line is not JSON, with at most \(JSONValue.deepest) levels and numbers below 1e128"
            throw RequestError(id: .null, refusal: Refusal(.badData, message))
        }
        guard case .object(let members) = value else {
            throw RequestError(id: .null, refusal: Refusal(.badData, "control: the line is not a JSON object"))
        }
        let id = members["id"] ?? .null
        guard id.isScalar else {
            let message = "control: id: found \(id.excerpt), allowed are a number, a text, true, false and null"
            throw RequestError(id: .null, refusal: Refusal(.usage, message))
        }
        do {
            return Request(id: id, try Message(members))
        } catch {
            throw RequestError(id: id, refusal: error)
        }
    }

    /// The most values in a line, including arrays and objects. No request needs ten. Each value takes some 10 µs to
    /// read, and a line of 64 KiB has room for tens of thousands.
    static var mostValues: Int { 256 }

    /// An upper estimate of the number of values in a line of JSON: one, plus one for each comma and each opening
    /// bracket.
    private static func values(in line: ArraySlice<UInt8>) -> Int {
        var count = 1
        var isText = false
        var isEscaped = false
        for byte in line {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isText
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): count += isText ? 0 : 1
            default: break
            }
        }
        return count
    }

    /// The line for this request, without the newline.
    public var line: String {
        var members = message.members
        members["id"] = id
        return JSONValue.object(members).description
    }
}
