import Testing

@testable import Upload
@testable import WebStores

struct WebXMLTests {
    @Test("XML: a document is read with its entities, comments and white space")
    func document() throws {
        let text = """


            <?xml version="1.0" encoding="UTF-8"?>
            <!-- one --><s3:List xmlns:s3="http://s3.amazonaws.com/doc/2006-03-01/" a='>'>
              <Name>a&amp;b &#x2F;&#47;<![CDATA[<c>]]></Name><Prefix/><!-- two -->
              <Item><Key>k</Key></Item><Item ><Key>ü</Key ></Item>
            </s3:List>

            """
        let list = try #require(WebXML(Array(text.utf8)))
        #expect(list.name == "List" && list["Name"] == "a&b //<c>" && list["Prefix"] == "" && list["None"] == nil)
        #expect(list.all("Item").map { $0["Key"] } == ["k", "ü"])
        let plain = try #require(WebXML(Array("<Error><Code>&quot;\(WebXML.escaped("<&>\""))</Code></Error>".utf8)))
        #expect(plain["Code"] == "\"<&>\"")
    }

    @Test(
        "XML: what is no document is refused",
        arguments: [
            "", " ", "a", "<a>", "<a></b>", "<a", "<a b='>", "</a>", "<a>&b;</a>", "<a>&</a>", "<a>&#xD800;</a>",
            "<a/>b", "<a/><b/>",
            "<!DOCTYPE a><a/>", "<a><!-- </a>", "<a><![CDATA[</a>", "<?xml", "<>x</>",
            String(repeating: "<a>", count: 100_000) + String(repeating: "</a>", count: 100_000),
        ])
    func refused(text: String) {
        #expect(WebXML(Array(text.utf8)) == nil)
        #expect(WebXML(Array("<a>".utf8) + [0xff] + Array("</a>".utf8)) == nil)
    }

    @Test("XML: a document of very many elements, which need more memory than their bytes, is refused")
    func elements() {
        func document(_ count: Int) -> [UInt8] { Array("<a>\(String(repeating: "<b/>", count: count))</a>".utf8) }
        #expect(WebXML(document(400_000))?.children.count == 400_000)
        #expect(WebXML(document(600_000)) == nil)
    }
}
