// How hostile or unusual answers of the Hub are read, and what its requests look like.
#include "source/store/hub_answer.h"

#include <gmock/gmock.h>

#include "source/http/http_head.h"
#include "source/store/hub_store.h"
#include "source/store/hub_targets.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kCommit(40, 'a');

HttpResponse response_of(int status, const std::string& url,
                         std::vector<std::pair<std::string, std::string>> headers = {}) {
  HttpResponse response;
  response.status = status;
  response.url = url;
  response.headers = std::move(headers);
  return response;
}

std::string header(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers)
    if (key == name) return value;
  return "";
}

class HubRequests : public testing::Test {
 protected:
  HubRequests() {
    EXPECT_TRUE(store_->take_pin(address_.bucket, R"({"sha": ")" + kCommit + R"("})").ok());
  }

  HttpRequest get() { return store_->get(address_, kCommit, 5, 8, 0); }
  // The answer of the Hub, and where the next request goes.
  HttpRequest after_redirect(const std::string& location) {
    moved_ = store_->moves(address_, kCommit, response_of(302, file_, {{"location", location}}));
    return get();
  }

  const Address address_ = *parse_address("hf://datasets/me/set@refs%2Fpr%2F1/a b/c#.tar");
  const std::string file_ =
      "https://huggingface.co/datasets/me/set/resolve/" + kCommit + "/a%20b/c%23.tar";
  std::unique_ptr<ObjectStore> store_ = std::move(
      HubStore::open({"", std::make_shared<CredentialSource>(Credentials{"", "", "hush", 0})})
          .value());
  bool moved_ = false;
};

TEST_F(HubRequests, NameTheCommitAndCarryTheToken) {
  EXPECT_FALSE(store_->needs_pin(address_.bucket));
  EXPECT_EQ(store_->pin(address_.bucket).url,
            "https://huggingface.co/api/datasets/me/set/revision/refs%2Fpr%2F1?expand=sha");
  EXPECT_EQ(get().url, file_);
  EXPECT_EQ(header(get(), "range"), "bytes=5-7");
  EXPECT_EQ(header(get(), "authorization"), "Bearer hush");
  ListQuery query;
  query.bucket = address_.bucket;
  query.prefix = "a b/c/d-";
  query.continuation = "x=";
  EXPECT_EQ(store_->list(query, 0).url, "https://huggingface.co/api/datasets/me/set/tree/" +
                                            kCommit +
                                            "/a%20b%2Fc?cursor=x%3D&expand=false&recursive=true");
  query.names = {"a b"};
  EXPECT_EQ(store_->list(query, 0).method, "POST");
  EXPECT_EQ(store_->list(query, 0).body, R"({"expand":false,"paths":["a b"]})");
}

TEST_F(HubRequests, FollowRedirectsWithTheTokenOnTheSameServerOnly) {
  EXPECT_EQ(after_redirect("/api/resolve-cache/x?y=1").url,
            "https://huggingface.co/api/resolve-cache/x?y=1");
  EXPECT_EQ(header(get(), "authorization"), "Bearer hush");
  for (const char* other : {"https://cdn.example/x?Signature=1", "https://huggingface.co:8443/x",
                            "https://huggingface.co.evil.example/x", "https://HUGGINGFACE.CO/x"}) {
    const HttpRequest request = after_redirect(other);
    EXPECT_EQ(header(request, "authorization"), "") << request.url;
  }
}

TEST_F(HubRequests, DoNotFollowRedirectsThatAreNoneOrGiveUpTls) {
  for (const char* location :
       {"http://cdn.example/x", "ftp://cdn.example/x", "", "x", "https://", "//evil.example/x",
        "https://huggingface.co@evil.example/x", "https://huggingface.co#@evil.example/",
        "https://huggingface.co\\@evil.example/"}) {
    EXPECT_EQ(after_redirect(location).url, file_) << location;
    EXPECT_FALSE(moved_) << location;
  }
  EXPECT_FALSE(store_->moves(
      address_, kCommit,
      response_of(302, file_, {{"location", "https://cdn.example/" + std::string(9000, 'x')}})));
}

TEST_F(HubRequests, ForgetAnAddressThatTheStorageRefusesButNotANewerOne) {
  const std::string first = "https://cdn.example/x?1", second = "https://cdn.example/x?2";
  EXPECT_EQ(after_redirect(first).url, first);
  EXPECT_EQ(after_redirect(second).url, second);
  EXPECT_TRUE(store_->moves(address_, kCommit, response_of(403, first)));
  EXPECT_EQ(get().url, second);
  EXPECT_TRUE(store_->moves(address_, kCommit, response_of(403, second)));
  EXPECT_EQ(get().url, file_);
  // A refusal by the Hub itself, and a storage that is only busy, are no moves.
  EXPECT_FALSE(store_->moves(address_, kCommit, response_of(403, file_)));
  EXPECT_FALSE(store_->moves(address_, kCommit, response_of(503, second)));
}

TEST_F(HubRequests, AreRetriedIfThatMayHelpAndMessagesHaveNoToken) {
  const auto refused = [this](int status, const std::string& error) {
    return store_->refuse(
        response_of(status, file_,
                    {{"x-error-message", "hush may not\n"}, {"x-error-code", error}}),
        "", Access::kRead);
  };
  for (const int status : {408, 429, 500, 502, 503}) EXPECT_TRUE(refused(status, "").retry);
  for (const int status : {400, 401, 403, 404, 416}) EXPECT_FALSE(refused(status, "").retry);
  EXPECT_THAT(refused(403, "GatedRepo").status.message(),
              AllOf(HasSubstr("(... may not )"), HasSubstr("accept its terms")));
  const Verdict storage = store_->refuse(response_of(500, "https://cdn.example/x?Signature=hush"),
                                         "<x>hush</x>", Access::kRead);
  EXPECT_TRUE(storage.retry);
  EXPECT_THAT(storage.status.message(), AllOf(HasSubstr("cdn.example"), Not(HasSubstr("hush"))));
}

TEST(HubAnswer, OnlyListsOfFilesWithPathAndSizeAreTaken) {
  const auto good = parse_hub_tree(
      R"([{"type": "directory", "path": "a", "size": 0},
          {"type": "file", "path": "a/b", "size": 5, "oid": "x", "lfs": {"oid": "y"}}])",
      kCommit);
  ASSERT_TRUE(good.ok());
  ASSERT_EQ(good->entries.size(), 1U);
  EXPECT_EQ(good->entries[0], (ListEntry{"a/b", 5, kCommit}));
  for (const char* body :
       {"", "[", "{}", "null", "<html>", "[5]", R"([{"type": "file", "size": 5}])",
        R"([{"type": "file", "path": "a"}])", R"([{"type": "file", "path": "a", "size": -5}])",
        R"([{"type": "file", "path": "a", "size": "5"}])",
        R"([{"type": "file", "path": "", "size": 5}])"})
    EXPECT_EQ(parse_hub_tree(body, kCommit).status().code(), Code::kDataLoss) << body;
  EXPECT_FALSE(parse_hub_tree(std::string(1 << 20, '['), kCommit).ok());
}

TEST(HubAnswer, ACommitIsAHashAndNothingElse) {
  EXPECT_EQ(*parse_hub_commit(R"({"id": "me/set", "sha": ")" + kCommit + R"("})"), kCommit);
  for (const char* body : {"", "[]", R"({"sha": 5})", R"({"sha": "main"})",
                           R"({"sha": "../../../../../../../../../../../../../../"})"})
    EXPECT_EQ(parse_hub_commit(body).status().code(), Code::kDataLoss) << body;
}

TEST(HubAnswer, APageIsFollowedByItsCursorWhereverItsLinkLeads) {
  const auto cursor = [](const std::string& link) {
    return hub_cursor(response_of(200, "", {{"link", link}}));
  };
  EXPECT_EQ(cursor(R"(<https://evil.example/x?expand=false&cursor=YQ%3D%3D&a=1>; rel="next")"),
            "YQ==");
  EXPECT_EQ(cursor(R"(<https://h/x?cursor=1>; rel="prev", <https://h/x?cursor=2>; rel="next")"),
            "2");
  for (const char* link : {"", "<", ">", "<>; rel=\"next\"", "<https://h/x>; rel=\"next\"",
                           "<https://h/?cursor>; rel=\"next\"", "<https://h/?cursor=1>", ",,,"})
    EXPECT_EQ(cursor(link), "") << link;
}

TEST(HubAnswer, TheTimeOfALimitIsReadFromItsHeader) {
  EXPECT_EQ(rate_limit_window_s(R"("resolvers";r=0;t=55)"), 55U);
  EXPECT_EQ(rate_limit_window_s(R"("api"; t=7 ;r=0)"), 7U);
  for (const char* header : {"", ";", "t=", "t=x", "t=-1", "r=5"})
    EXPECT_EQ(rate_limit_window_s(header), 0U) << header;
}

TEST(HubTargets, AreBoundedAndTheOldestGoesFirst) {
  HubTargets targets;
  for (std::size_t i = 0; i <= HubTargets::kTargetsMax; ++i)
    targets.put(std::to_string(i), "https://cdn.example/");
  EXPECT_EQ(targets.size(), HubTargets::kTargetsMax);
  EXPECT_EQ(targets.find("0"), nullptr);
  EXPECT_NE(targets.find("1"), nullptr);
}

}  // namespace
}  // namespace echoline::source
